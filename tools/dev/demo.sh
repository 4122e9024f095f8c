# SPDX-License-Identifier: Apache-2.0
# Summary: keyword spotting, from a .pt2 file to an emulated Cortex-M55, in one go
#
# usage: ./dev demo
#
# Installs what is missing, builds, compiles examples/keyword_spotting for a Cortex-M55, runs the firmware on the
# emulated board on recorded clips and prints what it heard beside what PyTorch heard.
#
# example: ./dev demo
build_host
install "${ARM_PACKAGES[@]}"
step "Keyword spotting on an emulated Cortex-M55"
$VENV/bin/python examples/keyword_spotting/demo.py
