# SPDX-License-Identifier: Apache-2.0
"""The command line as a user meets it: files, exit codes, messages, JSON. Uses the keyword-spotting example only.

usage: python tests/system/command_line.py
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

import numpy as np

from cli import ROOT, RUSHLIGHT, call, call_json

MODEL = ROOT / "examples" / "keyword_spotting" / "kws_int8.pt2"
sys.path.insert(0, str(ROOT / "examples" / "keyword_spotting"))
import clips  # noqa: E402


def refused(*arguments: object) -> str:
    """The message of a command that must exit with 2."""
    result = subprocess.run([RUSHLIGHT, *map(str, arguments)], capture_output=True, text=True)
    if result.returncode != 2:
        raise AssertionError(f"exit code {result.returncode}, 2 expected: {result.stderr}")
    return result.stderr


def report_of(made: Path) -> dict:
    return json.loads((made / "report.json").read_text())


def check_c(path: Path, source: str, made: Path, cpu: str = "cortex-m4") -> None:
    """Compiles C that includes a generated header, as strictly as a user may."""
    path.write_text(source)
    flags = ["-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", f"-mcpu={cpu}", "-mthumb"]
    includes = ["-I", ROOT / "runtime/include", "-I", made]
    subprocess.run(["arm-none-eabi-gcc", *flags, "-fsyntax-only", *includes, path], check=True)


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.made = cls.folder / "made"
        call("compile", MODEL, "--target", "cortex-m4", "-o", cls.made)
        cls.features = clips.load()[0]
        np.save(cls.folder / "x.npy", cls.features)
        cls.scores = np.array([clip["pytorch_scores"] for clip in clips.expected()["clips"]], np.float32)
        np.save(cls.folder / "y.npy", cls.scores)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_model(self, model: Path, *options: object) -> np.ndarray:
        call("run", model, "--input", self.folder / "x.npy", "--output", self.folder / "out.npy", *options)
        return np.load(self.folder / "out.npy")

    def test_compile_writes_five_files_the_same_each_time(self):
        files = ["model.cpp", "model.h", "model.rush", "report.html", "report.json"]
        once, again = self.folder / "once", self.folder / "again"
        for made in (once, again):
            call("compile", MODEL, "--target", "cortex-m4", "-o", made)
        self.assertEqual(sorted(p.name for p in once.iterdir()), files)
        for name in files:
            self.assertEqual((again / name).read_bytes(), (once / name).read_bytes(), name)

    def test_stages_are_close_to_pytorch_and_images_of_all_targets_agree(self):
        for stage in ("torch", "quantized", "program"):
            got = self.run_model(MODEL, "--stage", stage)
            self.assertEqual(got.shape, (len(self.features), 1, 12))
            self.assertLessEqual(np.abs(got[:, 0] - self.scores).max(), 0.15, stage)
            self.assertTrue((got[:, 0].argmax(1) == self.scores.argmax(1)).all(), stage)
        reference = self.run_model(MODEL, "--raw")
        for target in ("cortex-m0", "cortex-m4", "cortex-m55"):
            np.testing.assert_array_equal(self.run_model(MODEL, "--raw", "--target", target), reference)
        np.testing.assert_array_equal(self.run_model(self.made, "--raw"), reference)
        np.testing.assert_array_equal(self.run_model(self.made / "model.rush", "--raw"), reference)

    def test_inputs_with_batch_axis_and_as_codes(self):
        reference = self.run_model(MODEL, "--raw")
        port = call_json("show", self.made)["entries"][0]["inputs"][0]
        codes = np.clip(np.rint(self.features * np.float32(1 / port["scale"])) + port["zero_point"], -128, 127).astype(
            np.int8
        )
        for x in (self.features[:, None], codes, codes[:, None]):
            np.save(self.folder / "other.npy", x)
            call("run", MODEL, "--input", self.folder / "other.npy", "--output", self.folder / "out.npy", "--raw")
            np.testing.assert_array_equal(np.load(self.folder / "out.npy"), reference)

    def test_compare(self):
        inputs = ("compare", MODEL, "--input", self.folder / "x.npy", "--expected", self.folder / "y.npy")
        report = call_json(*inputs)
        self.assertTrue(report["program_is_exact"])
        self.assertEqual(report["samples"], len(self.features))
        self.assertGreater(len(report["layers"]), 9)
        self.assertLessEqual(report["outputs"][0]["expected_to_program"]["max_error_lsb"], 1)
        np.save(self.folder / "other.npy", self.scores[::-1])
        wrong = (
            "compare",
            MODEL,
            "--input",
            self.folder / "x.npy",
            "--expected",
            self.folder / "other.npy",
            "--min-sqnr",
            "20",
        )
        self.assertEqual(subprocess.run([RUSHLIGHT, *map(str, wrong)], capture_output=True).returncode, 1)

    def test_compare_reaches_the_board(self):
        page = self.folder / "compare.html"
        request = ("compare", MODEL, "--input", self.folder / "x.npy", "--on", "mps3-an547", "--html", page)
        report = call_json(*request)
        self.assertTrue(report["board_is_exact"])
        compared = [layer for layer in report["layers"] if layer["program_codes_compared"]]
        self.assertGreater(len(compared), 9)
        for layer in compared:
            self.assertEqual(layer["board_codes_compared"], layer["program_codes_compared"])
            self.assertEqual(layer["board_codes_different"], 0)
        embedded = page.read_text().split('id="data">')[1].split("</script>")[0]
        self.assertEqual(json.loads(embedded), report)

    def test_compare_with_the_float_model(self):
        # The same model stands for the float one: then quantization costs nothing, layer by layer.
        report = call_json("compare", MODEL, "--input", self.folder / "x.npy", "--float", MODEL)
        matched = [layer for layer in report["layers"] if "from_float" in layer]
        self.assertGreater(len(matched), 9)
        for layer in matched:
            self.assertGreater(layer["from_float"]["sqnr_db"] or 1e9, 25, layer)
        self.assertEqual(report["outputs"][0]["float_to_program"], report["outputs"][0]["torch_to_program"])

    def test_records(self):
        x, record = self.folder / "x.npy", self.folder / "deployed.json"
        call("compare", MODEL, "--target", "cortex-m4", "--input", x, "--record", record)
        call("compare", MODEL, "--target", "cortex-m4", "--input", x, "--check", record)
        call("compare", self.made, "--input", x, "--check", record)
        call("compare", self.made, "--input", x, "--check", record, "--on", "mps2-an386")
        stored = json.loads(record.read_text())
        self.assertEqual(len(stored["outputs"]), len(self.features))
        raw = self.run_model(self.made, "--raw")
        self.assertEqual(stored["outputs"][0], f"{zlib.crc32(raw[0].tobytes()):08x}")
        other = self.features.copy()
        other[2] += 1
        np.save(self.folder / "other.npy", other)
        self.assertIn(
            "first sample 2",
            self.not_held("compare", self.made, "--input", self.folder / "other.npy", "--check", record),
        )
        call("compile", MODEL, "--target", "cortex-m0", "-o", self.folder / "m0")
        self.assertIn("another one", self.not_held("compare", self.folder / "m0", "--input", x, "--check", record))
        record.write_text("{}")
        self.assertIn("no record", refused("compare", self.made, "--input", x, "--check", record))
        self.assertIn("--check", refused("compare", self.made, "--input", x))

    def not_held(self, *arguments: object) -> str:
        result = subprocess.run([RUSHLIGHT, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(result.returncode, 1, result.stderr)
        return result.stderr

    def test_estimate(self):
        estimates = call_json("estimate", MODEL)["targets"]
        known = [target["name"] for target in json.loads(call("targets", "--json"))]
        self.assertEqual([row["target"] for row in estimates], known)
        m4 = next(row for row in estimates if row["target"] == "cortex-m4")
        compiled = json.loads((self.made / "report.json").read_text())
        self.assertEqual(m4["cycles"], compiled["estimated_cycles"])
        self.assertEqual(m4["ram_bytes"], compiled["ram_bytes"])
        self.assertEqual(m4["image_bytes"], compiled["image_bytes"])
        size = call_json("size", self.made)
        largest = call_json("estimate", MODEL, "--target", "cortex-m4")["largest_error"]
        self.assertLessEqual(abs(m4["flash_bytes"] / size["flash_bytes"] - 1), largest["flash"])
        self.assertIn("cortex-m99", refused("estimate", MODEL, "--target", "cortex-m99"))
        self.assertIn("report.json", refused("estimate", self.made))

    def test_view_writes_graphs_and_data(self):
        folder = self.folder / "view"
        call("view", MODEL, "--target", "cortex-m4", "--input", self.folder / "x.npy", "-o", folder, "--only-write")
        graphs = {graph["id"]: graph["nodes"] for graph in json.loads((folder / "graphs.json").read_text())}
        self.assertEqual(list(graphs), ["torch", "quantized", "program"])
        for nodes in graphs.values():
            ids = [node["id"] for node in nodes]
            self.assertEqual(len(ids), len(set(ids)))
            for node in nodes:
                self.assertLessEqual({edge["sourceNodeId"] for edge in node["incomingEdges"]}, set(ids))
        connected = [node for node in graphs["program"][1:] if node["incomingEdges"]]
        self.assertEqual(len(connected), len(graphs["program"]) - 1)
        cycles = json.loads((folder / "cycles.json").read_text())["program"]["results"]
        self.assertEqual(set(cycles), {node["id"] for node in graphs["program"]})
        estimated = json.loads((self.made / "report.json").read_text())["estimated_cycles"]
        self.assertAlmostEqual(sum(result["value"] for result in cycles.values()), estimated, delta=len(cycles))
        self.assertIn("quantized", json.loads((folder / "sqnr_db.json").read_text()))
        call("view", self.made, "-o", folder, "--only-write")
        self.assertEqual([graph["id"] for graph in json.loads((folder / "graphs.json").read_text())], ["program"])
        self.assertIn(".pt2", refused("view", self.made, "--input", self.folder / "x.npy", "--only-write"))

    def test_view_without_model_explorer_names_the_report(self):
        alone = self.folder / "rushlight"  # with no program beside it
        shutil.copy(RUSHLIGHT, alone)
        words = [alone, "view", self.made, "-o", self.folder / "graphs"]
        env = {"PATH": "/usr/bin:/bin", "RUSHLIGHT_HOME": str(ROOT)}
        shown = subprocess.run([*map(str, words)], capture_output=True, text=True, check=True, env=env).stdout
        self.assertIn("pip install ai-edge-model-explorer", shown)
        self.assertIn(str(self.made / "report.html"), shown)
        self.assertTrue((self.made / "report.html").exists())

    def test_costs_of_layers(self):
        one = self.folder / "one.npy"
        np.save(one, self.features[:1])
        run = call_json("run", self.made, "--input", one, "--on", "mps2-an386", "--layers")
        layers = run["layers"]
        self.assertEqual(len(layers), len(json.loads((self.made / "report.json").read_text())["layers"]))
        # Layers are stepped one by one, the run is one call: they differ by a few instructions a layer.
        for figure in ("instructions", "cycles"):
            self.assertAlmostEqual(sum(layer[figure] for layer in layers) / run[figure], 1, delta=0.01)
        self.assertIn("MAC/cycle", call("run", self.made, "--input", one, "--on", "mps2-an386", "--layers"))
        self.assertIn("name a board", refused("run", self.made, "--input", one, "--layers"))

    def test_opt(self):
        for opt in ("size", "balanced", "speed"):
            made = self.folder / opt
            self.assertEqual(call_json("compile", MODEL, "--target", "cortex-m4", "--opt", opt, "-o", made)["opt"], opt)
            call("build", made, "--board", "mps2-an386")
        size, balanced = (call_json("size", self.folder / opt)["kernel_bytes"] for opt in ("size", "balanced"))
        self.assertLess(size, balanced)

    def test_explain_prints_errors_as_json(self):
        command = [RUSHLIGHT, "explain", MODEL, "--target", "cortex-m99", "--json"]
        result = subprocess.run([*map(str, command)], capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)
        (error,) = json.loads(result.stdout)["errors"]
        self.assertIn("cortex-m99", error["what"])
        self.assertIn("cortex-m55", error["fix"])
        self.assertNotIn("{", result.stderr)

    def assert_adds_up(self, size: dict):
        """Every byte of flash is in one part, every byte of an image in one layer or section."""
        parts = ("model", "kernel", "core", "startup", "vector", "library", "padding")
        self.assertEqual(sum(size[f"{part}_bytes"] for part in parts), size["flash_bytes"])
        self.assertEqual(sum(size["kernels"].values()), size["kernel_bytes"])
        self.assertEqual(sum(size["library"].values()), size["library_bytes"])
        images = sum(model["bytes"] for model in size["models"])
        self.assertEqual(images + size["table_bytes"], size["model_bytes"])
        for model in size["models"]:
            layers = sum(layer["bytes"] for layer in model["layers"])
            self.assertEqual(layers + sum(model["sections"].values()), model["bytes"])

    def test_only_memcpy_and_memset_of_the_c_library(self):
        for target, board in (("cortex-m0", "mps2-an385"), ("cortex-m4", "mps2-an386"), ("cortex-m55", "mps3-an547")):
            made = self.folder / f"library_{target}"
            call("compile", MODEL, "--target", target, "-o", made)
            call("build", made, "--board", board)
            kept = (made / "firmware.map").read_text().split("Linker script and memory map")[1]
            code = r"^ \.(?:text|rodata|data|bss)\S*\s+0x\w+\s+0x(\w+) \S*/libc\w*\.a\((?:libc?_a-)?(\w+)"
            members = {name for size, name in re.findall(code, kept, re.MULTILINE) if int(size, 16)}
            self.assertLessEqual(members, {"memcpy", "memset"}, target)
            self.assertIn("memcpy", members, target)
            self.assert_adds_up(call_json("size", made))

    def test_size_and_build(self):
        call("build", self.made, "--board", "mps2-an386")
        size = call_json("size", self.made)
        parts = (
            "flash_bytes",
            "ram_bytes",
            "stack_bytes",
            "core_bytes",
            "model_bytes",
            "kernel_bytes",
            "harness_bytes",
        )
        for part in parts:
            self.assertGreater(size[part], 0, part)
        self.assertLessEqual(size["core_bytes"], 4096)
        self.assert_adds_up(size)
        self.assertEqual([model["bytes"] for model in size["models"]], [(self.made / "model.rush").stat().st_size])
        symbols = subprocess.run(
            ["arm-none-eabi-nm", self.made / "firmware.elf"], capture_output=True, text=True, check=True
        ).stdout
        names = {line.split()[-1] for line in symbols.splitlines()}
        heap = {
            n
            for n in names
            if n in {"malloc", "free", "calloc", "realloc", "_sbrk"}
            or n.startswith(("_Znw", "_Zna", "__cxa_throw", "_ZTI"))
        }
        self.assertEqual(heap, set())
        self.assertLessEqual({"bench_begin", "bench_end"}, names)

    def test_linked_models_give_what_they_give_alone(self):
        alone = {"int8": MODEL, "f32": MODEL.with_name("kws_f32.pt2")}
        expected = []
        for name, model in alone.items():
            call("compile", model, "--target", "cortex-m55", "-o", self.folder / "link" / name)
            call(
                "run", self.folder / "link" / name, "--input", self.folder / "x.npy", "--output", self.folder / "y0.npy"
            )
            expected.append(np.load(self.folder / "y0.npy"))
        both = self.folder / "both"
        report = call_json("link", self.folder / "link" / "int8", f"real={self.folder / 'link' / 'f32'}", "-o", both)
        self.assertEqual([model["name"] for model in report["models"]], ["int8", "real"])
        arenas = [json.loads((self.folder / "link" / n / "report.json").read_text())["arena_bytes"] for n in alone]
        self.assertEqual(report["region_bytes"], max(arenas))
        self.assertEqual(report["region_bytes_apart"], sum(arenas))
        inputs = ("--input", self.folder / "x.npy", "--input", self.folder / "x.npy")
        for place in ("host", "mps3-an547"):
            call("run", both, *inputs, "--output", self.folder / "z.npy", "--on", place)
            for i, outputs in enumerate(expected):
                np.testing.assert_array_equal(np.load(self.folder / f"z{i}.npy"), outputs, f"{place} {i}")
        self.assertIn("counts one model", refused("run", both, *inputs, "--on", "mps3-an547", "--layers"))
        size = call_json("size", both)
        self.assert_adds_up(size)
        self.assertEqual([model["name"] for model in size["models"]], ["int8", "real"])
        self.assertLess(size["region_bytes"], sum(arenas))
        code = '#include "models.h"\nchar ram[MODELS_RAM_BYTES > MODELS_ARENA_BYTES ? 1 : -1];\n'
        check_c(self.folder / "models.c", code, both, cpu="cortex-m55")

    def test_models_that_cannot_be_linked_are_refused(self):
        other = self.folder / "other_target"
        call("compile", MODEL, "--target", "cortex-m55", "-o", other)
        self.assertIn("is compiled for", refused("link", self.made, other, "-o", self.folder / "no"))
        self.assertIn("two models are called", refused("link", self.made, self.made, "-o", self.folder / "no"))
        self.assertIn("not a folder made by compile", refused("link", self.made, self.folder, "-o", self.folder / "no"))

    def test_explain(self):
        report = call_json("explain", MODEL, "--target", "cortex-m55")
        layers = json.loads(call("compile", MODEL, "--target", "cortex-m55", "-o", self.folder / "e", "--json"))[
            "layers"
        ]
        self.assertEqual([r["layer"] for r in report["layers"]], [r["layer"] for r in layers])
        self.assertEqual([r["kernel"] for r in report["layers"]], [r["kernel"] for r in layers])
        self.assertAlmostEqual(sum(r["share"] for r in report["layers"]), 1, 3)
        for layer in report["layers"]:
            self.assertTrue(layer["reason"])
        text = call("explain", MODEL.with_name("kws_f32.pt2"), "--target", "cortex-m4")
        self.assertIn("computes in float", text)
        self.assertIn("model.py:", text)
        summary = call("compile", MODEL.with_name("kws_f32.pt2"), "--target", "cortex-m4", "-o", self.folder / "f")
        self.assertRegex(summary, r"Warnings +[1-9]")

    def test_profile(self):
        self.assertIn("MAC/cycle", call("profile", self.made))
        profile = call_json("profile", self.made, "--on", "mps2-an386")
        layers = json.loads((self.made / "report.json").read_text())["layers"]
        self.assertEqual([row["layer"] for row in profile["layers"]], [row["layer"] for row in layers])
        self.assertEqual(sum(row["macs"] for row in profile["layers"]), profile["macs"])
        for row in profile["layers"]:
            self.assertGreater(row["instructions"], 0)
            self.assertGreater(row["bytes_moved"], 0)
            self.assertEqual(row["regions"], ["arena"])
        self.assertAlmostEqual(profile["milliseconds"], profile["cycles"] / 120e3, places=6)
        self.assertIn("no such file", refused("profile", self.made, "--log", self.folder / "absent.txt"))
        self.assertIn("excludes", refused("profile", self.made, "--log", "x", "--on", "mps2-an386"))

    def test_line_fed_models_run_but_cannot_be_watched(self):
        made = self.folder / "line_fed"
        call("compile", MODEL, "--target", "cortex-m55", "--line-input", "-o", made)
        wanted = self.run_model(MODEL)
        np.testing.assert_array_equal(self.run_model(made), wanted)
        np.testing.assert_array_equal(self.run_model(made, "--on", "mps3-an547"), wanted)
        record = self.folder / "line_fed.json"
        call("compare", MODEL, "--input", self.folder / "x.npy", "--record", record)
        stored = json.loads(record.read_text())
        said = self.not_held("compare", made, "--input", self.folder / "x.npy", "--check", record, "--on", "mps3-an547")
        self.assertIn("another one", said)
        self.assertNotIn("output", said)  # the image differs, what it computes does not
        self.assertEqual(len(stored["outputs"]), len(self.features))
        for arguments in (
            ("profile", made),
            ("view", made, "--on", "mps3-an547", "--only-write"),
            ("run", made, "--input", self.folder / "x.npy", "--on", "mps3-an547", "--layers"),
        ):
            self.assertIn("fix: compile the model without --line-input", refused(*arguments))

    def test_profiling_costs_nothing_where_it_is_not_called(self):
        call("build", self.made, "--board", "mps2-an386")
        symbols = subprocess.run(
            ["arm-none-eabi-nm", self.made / "firmware.elf"], capture_output=True, text=True, check=True
        )
        self.assertIn("rush_run", symbols.stdout)
        for name in ("rush_profile_run", "rush_profile_write", "rush_next_step", "rush_step_count"):
            self.assertNotIn(name, symbols.stdout)

    def bytes_as_input(self, mean: float, scale: float) -> tuple[Path, np.ndarray, np.ndarray]:
        """The model for a sensor's bytes, random bytes, and the real numbers that they stand for."""
        made = self.folder / "bytes"
        options = ("--input-type", "uint8", "--input-scale", repr(scale), "--mean", repr(mean))
        call("compile", MODEL, "--target", "cortex-m55", "-o", made, *options, "--labels", ",".join(clips.LABELS))
        x = np.random.default_rng(3).integers(0, 256, (4, 1, 49, 10), np.uint8)
        return made, x, (x * scale - mean).astype(np.float32)

    def scores_of(self, model: Path, x: np.ndarray, *options: object) -> np.ndarray:
        np.save(self.folder / "in.npy", x)
        call("run", model, "--input", self.folder / "in.npy", "--output", self.folder / "out.npy", *options)
        return np.load(self.folder / "out.npy")

    def test_bytes_that_are_the_codes_go_in_as_they_are(self):
        port = call_json("show", self.made)["entries"][0]["inputs"][0]
        made, x, real = self.bytes_as_input((port["zero_point"] + 128) * port["scale"], port["scale"])
        call("compile", MODEL, "--target", "cortex-m55", "-o", self.folder / "m55")
        kernels = [[row["kernel"] for row in report_of(folder)["layers"]] for folder in (made, self.folder / "m55")]
        self.assertEqual(*kernels)
        wanted = self.scores_of(MODEL, real)
        np.testing.assert_array_equal(self.scores_of(made, x), wanted)
        np.testing.assert_array_equal(self.scores_of(made, x, "--on", "mps3-an547"), wanted)

    def test_other_bytes_are_normalized_on_codes(self):
        made, x, real = self.bytes_as_input(2.0, 1 / 64)
        self.assertFalse([row["kernel"] for row in report_of(made)["layers"] if "f32" in row["kernel"]])
        host = self.scores_of(made, x)
        np.testing.assert_allclose(host, self.scores_of(MODEL, real), atol=0.05)
        np.testing.assert_array_equal(self.scores_of(made, x, "--on", "mps3-an547"), host)

    def test_the_header_puts_bytes_in_and_names_the_best(self):
        made, *_ = self.bytes_as_input(2.0, 1 / 64)
        source = (
            '#include "model.h"\nint hear(signed char *input, const unsigned char *camera, const signed char *scores);\n'
            "int hear(signed char *input, const unsigned char *camera, const signed char *scores) {\n"
            "  uint16_t top[3];\n  model_input0_bytes(input, camera);\n"
            "  return model_top(scores, top, 3) == 3 ? model_labels[top[0]][0] : 0;\n}\n"
        )
        check_c(self.folder / "user.c", source, made)

    def test_the_header_finds_the_best_of_the_scores_of_a_board(self):
        made, x, _ = self.bytes_as_input(2.0, 1 / 64)
        scores = self.scores_of(made, x, "--on", "mps3-an547", "--raw").reshape(len(x), -1)
        self.assertEqual(scores.dtype, np.int8)
        tied = np.array([[3, 9, 9, -1, 9, 3, 0, 0, 0, 0, 0, 0]], np.int8)
        rows = np.concatenate([scores, tied, scores[::-1, ::-1]])
        program = self.folder / "top"
        source = program.with_suffix(".c")
        source.write_text(
            '#include <stdio.h>\n#include "model.h"\nint main(void) {\n'
            "  int8_t scores[MODEL_LABEL_COUNT];\n  uint16_t top[20];\n"
            "  while (fread(scores, 1, sizeof scores, stdin) == sizeof scores) {\n"
            "    for (uint32_t count = 0; count <= 20; ++count) {\n"
            "      const uint32_t found = model_top(scores, top, count);\n"
            '      for (uint32_t i = 0; i < found; ++i) printf("%d ", top[i]);\n'
            '      printf("\\n");\n    }\n  }\n  return 0;\n}\n'
        )
        flags = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined")
        subprocess.run(["cc", *flags, f"-I{ROOT / 'runtime/include'}", f"-I{made}", source, "-o", program], check=True)
        printed = subprocess.run([program], input=rows.tobytes(), capture_output=True, check=True).stdout.decode()
        best = [np.argsort(-row.astype(int), kind="stable") for row in rows]
        wanted = [" ".join(map(str, order[:count])) for order in best for count in range(21)]
        self.assertEqual([line.strip() for line in printed.splitlines()], wanted)

    def test_what_does_not_fit_bytes_is_refused(self):
        out = ("-o", self.folder / "nothing")
        self.assertIn("2 means and 1", refused("compile", MODEL, *out, "--input-type", "uint8", "--mean", "1,2"))
        self.assertIn("--input-type", refused("compile", MODEL, *out, "--mean", "1"))

    def test_targets(self):
        targets = json.loads(call("targets", "--json"))
        self.assertEqual({t["name"]: t["isa"] for t in targets}, {
            "cortex-m0": "scalar", "cortex-m0plus": "scalar", "cortex-m3": "scalar", "cortex-m23": "scalar", "cortex-m4": "dsp",
            "cortex-m7": "dsp", "cortex-m33": "dsp", "cortex-m35p": "dsp", "cortex-m55": "mve", "cortex-m85": "mve", "alif-e8-hp": "mve", "ra8d1": "mve"})  # fmt: skip

    def test_weights_lie_where_they_are_asked_to(self):
        reference = self.run_model(MODEL, "--raw")
        waiting = {}
        for name, options in {"placed": (), "flash": ("--place", "*.weight=mram")}.items():
            made = self.folder / name
            report = json.loads(call("compile", MODEL, "--target", "alif-e8-hp", "-o", made, "--json", *options))
            waiting[name] = report["waiting_cycles"]
            memories = {row["memory"] for row in report["placed"] if row["name"].endswith(".weight")}
            self.assertEqual(memories, {"dtcm"} if name == "placed" else {"mram"})
            np.testing.assert_array_equal(self.run_model(made, "--raw"), reference)
            np.testing.assert_array_equal(self.run_model(made, "--raw", "--on", "mps3-an547"), reference)
        self.assertLess(waiting["placed"], waiting["flash"])
        out = self.folder / "nowhere"
        self.assertIn("use one of dtcm, sram0, sram1, mram",
                      refused("compile", MODEL, "--target", "alif-e8-hp", "-o", out, "--place", "*=itcm"))  # fmt: skip
        self.assertIn(
            "choose a chip", refused("compile", MODEL, "--target", "cortex-m55", "-o", out, "--place", "*=dtcm")
        )
        self.assertIn('no "=" in it', refused("compile", MODEL, "-o", out, "--place", "dtcm"))

    def test_mistakes_are_named(self):
        out = self.folder / "nothing"
        self.assertIn("cortex-m55", refused("compile", MODEL, "--target", "cortex-m99", "-o", out))
        self.assertIn("no such file", refused("compile", self.folder / "absent.pt2", "-o", out))
        self.assertIn("(N, 1, 49, 10)", self.with_input(np.zeros((3, 49, 11), np.float32)))
        self.assertIn("float64", self.with_input(np.zeros((3, 1, 49, 10))))
        (self.folder / "text.npy").write_text("not an array")
        self.assertIn(".npy", refused("run", MODEL, "--input", self.folder / "text.npy"))
        self.assertIn("mps2-an386", refused("build", self.made, "--board", "mps2-an385"))
        self.assertIn("moon", refused("run", self.made, "--input", self.folder / "x.npy", "--on", "moon"))
        refused("compile", MODEL)
        refused("fly")
        self.assertFalse(out.exists())

    def with_input(self, x: np.ndarray) -> str:
        np.save(self.folder / "wrong.npy", x)
        return refused("run", MODEL, "--input", self.folder / "wrong.npy")

    def test_damaged_images_are_refused(self):
        image = bytearray((self.made / "model.rush").read_bytes())
        damaged = self.folder / "damaged.rush"
        for change in (
            lambda b: b[: len(b) // 2],
            lambda b: b[:100] + bytes([b[100] ^ 1]) + b[101:],
            lambda b: b"",
            lambda b: b"PK" + b[2:],
        ):
            damaged.write_bytes(change(bytes(image)))
            message = refused("run", damaged, "--input", self.folder / "x.npy")
            self.assertIn("damaged.rush", message)

    def test_an_image_for_another_target_is_refused(self):
        other = self.folder / "m55"
        call("compile", MODEL, "--target", "cortex-m55", "-o", other)
        mixed = self.folder / "mixed"
        call("compile", MODEL, "--target", "cortex-m4", "-o", mixed)
        (mixed / "model.rush").write_bytes((other / "model.rush").read_bytes())
        self.assertIn("cortex-m4", refused("build", mixed, "--board", "mps2-an386"))

    def test_every_command_has_help_with_an_example(self):
        for command in (
            "compile",
            "explain",
            "run",
            "build",
            "link",
            "estimate",
            "profile",
            "view",
            "compare",
            "size",
            "show",
            "targets",
        ):
            self.assertIn("Example: rushlight", call(command, "--help"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
