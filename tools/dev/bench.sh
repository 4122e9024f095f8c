# SPDX-License-Identifier: Apache-2.0
# Summary: measure models and kernels against the bars, into budget.csv and bench/*.csv
#
# usage: ./dev bench [--against REV] [--check] [--models-only] [MODEL ...]
#   --against REV   print what changed since a commit
#   --check         write nothing; exit with 1 also where a figure is worse
#   --models-only   no kernel shapes, no host
#   --fit           fit the constants of the cost model and of the estimates to the kernels, rebuild, then bench
#
# example: ./dev bench --against HEAD~1
arguments=() fit=
for argument in "$@"; do
  if [ "$argument" = --fit ]; then fit=1; else arguments+=("$argument"); fi
done
build_host
install "${ARM_PACKAGES[@]}" clang-19 llvm-19 git
pip_install matplotlib
cmake --build $BUILD -j "$JOBS" --target rushlight_kernels
if [ -n "$fit" ]; then
  step "Fitting the cost model"
  $VENV/bin/python bench/fit.py
  $VENV/bin/python bench/code_bytes.py
  build_host
  cmake --build $BUILD -j "$JOBS" --target rushlight_kernels
fi
step "Measuring"
result=0
$VENV/bin/python bench/bench.py "${arguments[@]}" || result=$?
if [[ " ${arguments[*]} " != *" --check "* ]]; then
  $VENV/bin/python bench/plot.py
  $VENV/bin/python bench/readme.py
fi
exit $result
