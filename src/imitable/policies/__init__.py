# SPDX-License-Identifier: MIT
"""Policies: acting in NumPy, files, ONNX, the shipped ones and their cards."""
