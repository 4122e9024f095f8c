# SPDX-License-Identifier: Apache-2.0
# Summary: measure models and kernels against the bars, into budget.csv and bench/*.csv
#
# usage: ./dev bench [--against REV] [--check] [--models-only] [MODEL ...]
#        ./dev bench --accuracy [--each] [MODEL ...]
#   --against REV   print what changed since a commit
#   --check         write nothing; exit with 1 also where a figure is worse
#   --models-only   no kernel shapes, no host
#   --accuracy      only how close int8 models are to float, into bench/accuracy.csv; installs PyTorch; with --each,
#                   what each means gives alone
#   --fit           fit the constants of the cost model and of the estimates to the kernels, rebuild, then bench
#
# example: ./dev bench --against HEAD~1
arguments=() fit= accuracy=
for argument in "$@"; do
  case "$argument" in
    --fit) fit=1 ;;
    --accuracy) accuracy=1 ;;
    *) arguments+=("$argument") ;;
  esac
done
build_host
if [ -n "$accuracy" ]; then
  install_torch
  step "Measuring accuracy"
  $VENV/bin/python bench/accuracy.py "${arguments[@]}"
  exit
fi
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
