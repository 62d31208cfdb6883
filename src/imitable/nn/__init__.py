# SPDX-License-Identifier: MIT
"""Networks and normalisers shared by scorers and learners."""

from imitable.runtime import one_thread

one_thread()  # before JAX loads here: same seed, same bits, on any number of cores
