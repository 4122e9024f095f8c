# SPDX-License-Identifier: Apache-2.0
"""`pip install .` as a user does it: into a fresh environment, which then does without the sources.

usage: python tests/system/wheel.py ENVIRONMENT
  ENVIRONMENT   the virtual environment to make, in place of an earlier one

The sources are copied, built in the copy and removed. Compiled objects are shared with ./dev build through ccache: the
same compiler names and the same folder below the root give the same commands.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "keyword_spotting"
BUILD = "build/release"


def copy_sources(to: Path) -> None:
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, files.stdout.decode().split("\0")):
        if (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def install(environment: Path, sources: Path) -> None:
    venv.create(environment, clear=True, with_pip=True)
    launcher = {f"CMAKE_{language}_COMPILER_LAUNCHER": "ccache" for language in ("C", "CXX") if shutil.which("ccache")}
    shared = {"CC": "cc", "CXX": "c++", "CCACHE_BASEDIR": str(sources), **launcher}
    command = [environment / "bin" / "python", "-m", "pip", "install", "-q", "-C", f"build-dir={BUILD}", sources]
    subprocess.run(command, check=True, env=os.environ | shared)


def scores() -> np.ndarray:
    """What PyTorch gave for the recorded clips."""
    clips = json.loads((EXAMPLE / "clips" / "expected.json").read_text())["clips"]
    return np.array([clip["pytorch_scores"] for clip in clips], np.float32)[:, np.newaxis]


class Wheel(unittest.TestCase):
    environment: Path
    sources: Path

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def call(self, program: str, *arguments: object) -> subprocess.CompletedProcess:
        """A program of the environment, away from the sources."""
        return subprocess.run(
            [self.environment / "bin" / program, *map(str, arguments)],
            cwd=self.folder, env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}, capture_output=True, text=True,
        )  # fmt: skip

    def test_the_command_builds_firmware(self):
        for arguments in (
            ("compile", EXAMPLE / "kws_int8.pt2", "--target", "cortex-m55", "-o", "out"),
            ("build", "out", "--board", "mps3-an547"),
            ("run", "out", "--input", EXAMPLE / "clips/features.npy", "--output", "y.npy", "--on", "mps3-an547"),
        ):
            result = self.call("rushlight", *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
        np.testing.assert_array_equal(np.load(self.folder / "y.npy"), scores())

    def test_the_package_compiles_for_every_target(self):
        (self.folder / "use.py").write_text(
            "import sys, numpy, rushlight\n"
            "x = numpy.load(sys.argv[2])\n"
            "y = [rushlight.compile(sys.argv[1], target=target)(x) for target in rushlight.targets()]\n"
            "numpy.save('y.npy', y)\n"
        )
        result = self.call("python", "use.py", EXAMPLE / "kws_int8.pt2", EXAMPLE / "clips/features.npy")
        self.assertEqual(result.returncode, 0, result.stderr)
        outputs = np.load(self.folder / "y.npy")
        self.assertEqual(len(outputs), len(list((ROOT / "targets").glob("*.toml"))))
        np.testing.assert_array_equal(outputs, np.broadcast_to(scores(), outputs.shape))

    def test_what_needs_pytorch_says_so(self):
        clips = EXAMPLE / "clips/features.npy"
        result = self.call("rushlight", "quantize", EXAMPLE / "kws_f32.pt2", "--calib", clips, "-o", "q.pt2")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"quantizing needs torch.*\n.*install torch and torchao")

    def test_nothing_refers_to_the_sources(self):
        package = next((self.environment / "lib").glob("python*/site-packages/rushlight"))
        files = [self.environment / "bin" / "rushlight", *package.glob("*.so")]
        self.assertEqual(len(files), 2)
        for file in files:
            for folder in (self.sources, ROOT):
                self.assertNotIn(str(folder).encode() + b"/", file.read_bytes(), file)

    def test_missing_libraries_are_named_as_packages(self):
        absent = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("fmt", "CLI11")]
        result = subprocess.run(
            ["cmake", "-G", "Ninja", "-S", ROOT, "-B", self.folder, "-DRUSH_TESTS=OFF", *absent],
            capture_output=True,
            text=True,
        )
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"apt-get install libfmt-dev libcli11-dev\n")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    Wheel.environment = Path(sys.argv.pop()).resolve()
    with tempfile.TemporaryDirectory() as copy:
        Wheel.sources = Path(copy).resolve()
        copy_sources(Wheel.sources)
        install(Wheel.environment, Wheel.sources)
    unittest.main(verbosity=1)
