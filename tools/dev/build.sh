# SPDX-License-Identifier: Apache-2.0
# Summary: build the compiler and put `rushlight` into .venv/bin
#
# usage: ./dev build [--torch]
#   --torch   also install torch==2.13.0 and torchao into .venv, for quantizing and exporting models
#
# example: ./dev build && .venv/bin/rushlight targets
build_host
[ "${1:-}" != --torch ] || install_torch
$VENV/bin/rushlight --version
