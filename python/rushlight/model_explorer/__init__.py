# SPDX-License-Identifier: Apache-2.0
"""Model Explorer (PyPI: ai-edge-model-explorer) opens .rush files with this extension.

model-explorer model.rush --extensions=rushlight.model_explorer
"""
