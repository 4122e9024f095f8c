# SPDX-License-Identifier: Apache-2.0
#
# What the commands of ./dev share: installing what is missing, the virtual environment, builds, progress.

BUILD=build/release
VENV=.venv
JOBS=$(nproc)

# Packages by what they are for; names are those of Debian 12 and 13.
BUILD_PACKAGES=(g++ cmake ninja-build pkg-config ccache libzip-dev nlohmann-json3-dev libcli11-dev libfmt-dev
  libtomlplusplus-dev libflatbuffers-dev python3 python3-venv python3-dev ca-certificates)
ARM_PACKAGES=(gcc-arm-none-eabi binutils-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm)
TEST_PACKAGES=(libgtest-dev libgmock-dev clang-19 lld-19 libclang-rt-19-dev llvm-19)
PAGE_PACKAGES=(chromium chromium-driver)
LINT_PACKAGES=(clang-format-19)

step() { printf '\n==> %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# install PACKAGE...: installs the Debian packages that are missing.
install() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  step "Installing ${missing[*]}"
  command -v apt-get >/dev/null || { echo "error: missing ${missing[*]}, and this is not a Debian system: install them by hand" >&2; exit 2; }
  local root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "error: missing ${missing[*]}: run as root or install sudo" >&2; exit 2; }
    root=(sudo)
  fi
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# A Python whose headers and venv are there: PYTHON, else python3, else Debian's.
find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 /usr/bin/python3; do
    [ -n "$candidate" ] || continue
    if "$candidate" -c 'import ensurepip, sysconfig, os, sys
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  fail "no Python with its headers and venv found; install python3-dev and python3-venv, or set PYTHON"
}

make_venv() {
  [ -x $VENV/bin/python ] || { step "Making $VENV"; "$(find_python)" -m venv $VENV; }
  pip_install 'numpy>=1.26' pybind11
  pip_install joblib tqdm
}

# pip_install REQUIREMENT...: quiet, and nothing at all where everything is there already.
pip_install() {
  local stamp=$VENV/.installed-$(echo "$*" | cksum | cut -d' ' -f1)
  [ -e "$stamp" ] && return
  step "Installing $*"
  $VENV/bin/python -m pip install -q "$@"
  touch "$stamp"
}

# PyTorch has a CPU wheel of this release for Python 3.11 only where one is laid out; elsewhere pip fetches what PyPI has.
install_torch() { pip_install torch==2.13.0 'torchao==0.18.*' pytest; }

install_reference_tools() {
  install doxygen
  pip_install 'pdoc==16.*'
}

# The tools that show what Rushlight writes. Of executorch only the Inspector is used, so only what that imports is taken.
install_viewers() {
  pip_install --no-deps executorch==1.5.1
  pip_install pandas tabulate pyyaml ruamel.yaml flatbuffers ai-edge-model-explorer==0.1.34 'selenium>=4.20'
}

# API reference of the Python package and of the C API, into build/docs. Needs PyTorch: what quantizes is only loaded with it.
build_reference() {
  mkdir -p build/docs && $VENV/bin/python tools/reference/python.py build/docs/python && doxygen tools/reference/Doxyfile
}

# configure DIR [OPTION...]: CMake with Ninja.
configure() {
  local dir=$1
  shift
  export CCACHE_SLOPPINESS=pch_defines,time_macros  # what a precompiled header needs
  export CCACHE_BASEDIR=$PWD                        # so that tests/system/wheel.py finds objects that are built here
  [ -e "$dir/build.ninja" ] && [ "$(cat "$dir/.options" 2>/dev/null)" = "$*" ] && return
  local launcher=()
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
  cmake -S . -B "$dir" -G Ninja "${launcher[@]}" "$@" >/dev/null
  echo "$*" >"$dir/.options"
}

# Builds the host side and puts an up-to-date `rushlight` into the virtual environment.
build_host() {
  install "${BUILD_PACKAGES[@]}"
  make_venv
  step "Building"
  configure $BUILD -DCMAKE_BUILD_TYPE=Release -DRUSH_PYTHON=ON -DPython_EXECUTABLE="$PWD/$VENV/bin/python" \
    -Dpybind11_DIR="$($VENV/bin/python -m pybind11 --cmakedir)" -DRUSH_TESTS="${1:-OFF}"
  cmake --build $BUILD -j "$JOBS"
  cmake --install $BUILD --prefix "$PWD/$VENV" >/dev/null
}
