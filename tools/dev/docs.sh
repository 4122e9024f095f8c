# SPDX-License-Identifier: Apache-2.0
# Summary: build the API reference of the Python package and of the C API, into build/docs
#
# usage: ./dev docs
#
# example: ./dev docs && xdg-open build/docs/python/rushlight.html
build_host
install_torch
install_reference_tools
step "Building the reference"
build_reference
echo "build/docs/python/rushlight.html"
echo "build/docs/c/rushlight_8h.html"
