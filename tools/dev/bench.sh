# SPDX-License-Identifier: Apache-2.0
# Summary: measure flash, RAM, stack, instructions and cycles, into budget.csv
#
# usage: ./dev bench [--against REV] [--check] [MODEL ...]
#   --against REV   print what changed since a commit's budget.csv
#   --check         write nothing; exit with 1 where a figure is worse
#
# example: ./dev bench --against HEAD~1
build_host
install "${ARM_PACKAGES[@]}" git
step "Measuring"
$VENV/bin/python bench/bench.py "$@"
