# SPDX-License-Identifier: MIT
"""Gymnasium environments, and the camera that films them."""
