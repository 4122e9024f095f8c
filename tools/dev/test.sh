# SPDX-License-Identifier: Apache-2.0
# Summary: run every test; what CI runs
#
# usage: ./dev test [--all] [--quick]
#   --all     every sample of every model on every core, instead of a few that change from day to day
#   --quick   only what needs neither sanitizers nor PyTorch: unit tests and the emulated boards
#
# example: ./dev test
everything=() quick=
for argument in "$@"; do
  case "$argument" in
    --all) everything=(--all) ;;
    --quick) quick=1 ;;
    *) fail "unknown option $argument" ;;
  esac
done
failed=()
# check NAME COMMAND...: runs one part of the tests and goes on where it fails, so that one run shows all that is wrong.
check() {
  step "$1"
  local begin=$SECONDS
  if "${@:2}"; then echo "ok: $1 ($((SECONDS - begin)) s)"; else failed+=("$1"); echo "FAILED: $1"; fi
}

play() { $BUILD/rushlight_play "$suites" "$1" "$2" gcc; }

install "${BUILD_PACKAGES[@]}" "${ARM_PACKAGES[@]}" "${TEST_PACKAGES[@]}" "${PAGE_PACKAGES[@]}" "${LINT_PACKAGES[@]}" git
build_host ON
suites=$PWD/build/suites
rm -rf "$suites"
mkdir -p "$suites"
check "unit, pass, error and image tests" env RUSH_DEVICE_SUITE="$suites" $BUILD/rushlight_tests --gtest_brief=1
check "the same without the host's AVX2 kernels" env RUSHLIGHT_WIDE_KERNELS=0 $BUILD/rushlight_tests --gtest_brief=1
check "include directions" $VENV/bin/python tools/check_dependencies.py
for core in cortex-m0:microbit cortex-m0plus:mps2-an385 cortex-m3:mps2-an385 cortex-m4:mps2-an386 cortex-m7:mps2-an500 \
  cortex-m23:mps2-an505 cortex-m33:mps2-an505 cortex-m35p:mps2-an505 cortex-m55:mps3-an547; do
  check "kernels, chains and states on ${core%:*} (${core#*:})" play "${core%:*}" "${core#*:}"
done
check "kernels without assembly on cortex-m55 (mps3-an547)" env RUSHLIGHT_ASSEMBLY=0 \
  $BUILD/rushlight_play "$suites" cortex-m55 mps3-an547 gcc
check "models on every class of cores" $VENV/bin/python tests/system/models.py "${everything[@]}"
check "exported cases on the host, M55 and M0" $VENV/bin/python tests/system/cases.py
check "command line" $VENV/bin/python tests/system/command_line.py
check "pip install . in a fresh environment" $VENV/bin/python tests/system/wheel.py build/fresh
check "what checks the documentation" $VENV/bin/python tests/docs/blocks_test.py
check "report page in Chromium" $VENV/bin/python tests/system/report_page.py
check "keyword spotting on the board" $VENV/bin/python examples/keyword_spotting/demo.py
check "device code under strict compilers" $VENV/bin/python tests/system/strict_compile.py
if [ -z "$quick" ]; then
  configure build/asan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" -DRUSH_SANITIZE=address,undefined
  check "sanitizer build" cmake --build build/asan -j "$JOBS"
  check "unit tests under sanitizers" build/asan/rushlight_tests --gtest_brief=1
  check "broken files under sanitizers" env RUSHLIGHT="$PWD/build/asan/rushlight" $VENV/bin/python tests/system/broken_files.py
  configure build/fuzz -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 -DRUSH_FUZZ=ON -DRUSH_TESTS=OFF
  check "fuzz build" cmake --build build/fuzz -j "$JOBS"
  check "a short fuzz of every reader" ctest --test-dir build/fuzz/fuzz -L fuzz -j "$JOBS" --output-on-failure
  if $VENV/bin/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then
    install_torch
    install_viewers
    pip_install 'dask[distributed]'
    check "Python and PyTorch" $VENV/bin/python -m pytest -q python/tests examples
    install_reference_tools
    check "API reference" build_reference
    # In the environment of the wheel, which takes PyTorch from this one.
    $VENV/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$(echo build/fresh/lib/python3*/site-packages)/pytorch.pth"
    check "blocks of the documentation" build/fresh/bin/python tests/docs/blocks.py
  else
    echo "skipped: the PyTorch tests need Python 3.11, for which torch 2.13.0 has a CPU build"
    pip_install pytest
    check "Python" $VENV/bin/python -m pytest -q python/tests/test_program.py
  fi
fi
step "Result"
[ ${#failed[@]} = 0 ] || { printf 'FAILED: %s\n' "${failed[@]}"; exit 1; }
echo "all tests passed ($SECONDS s)"
