# SPDX-License-Identifier: MIT
"""The page that people look at: one HTML file from score files and run folders."""
