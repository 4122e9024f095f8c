# SPDX-License-Identifier: Apache-2.0
# Summary: check formatting, include directions and Python style
#
# usage: ./dev lint [--fix]
#   --fix   rewrite C++ and Python files in the project's format
#
# example: ./dev lint --fix
install "${LINT_PACKAGES[@]}" git python3 python3-venv python3-dev
make_venv
pip_install 'ruff==0.14.*'
mapfile -t sources < <(git ls-files '*.h' '*.cpp' '*.c')
mapfile -t scripts < <(git ls-files '*.py')
if [ "${1:-}" = --fix ]; then
  clang-format-19 -i "${sources[@]}"
  $VENV/bin/ruff check -q --fix "${scripts[@]}"
  $VENV/bin/ruff format -q "${scripts[@]}"
fi
step "C++ format"
clang-format-19 --dry-run -Werror "${sources[@]}"
step "Python"
$VENV/bin/ruff check "${scripts[@]}"
$VENV/bin/ruff format --check -q "${scripts[@]}"
step "Include directions"
$VENV/bin/python tools/check_dependencies.py
