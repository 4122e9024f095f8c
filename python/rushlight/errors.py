# SPDX-License-Identifier: Apache-2.0
"""The compiler's one exception class, raised from Python with the same fields."""

from __future__ import annotations

from rushlight._rushlight import Error


def user_error(what: str, fix: str, layer: str = "") -> Error:
    fields = {"what": what, "op": "", "layer": layer, "source": "", "details": [], "fix": fix}
    return Error(f"error: {what}\n  fix: {fix}", [fields])
