# SPDX-License-Identifier: MIT
"""Drivers as text, and the table that loads one by its name when it is asked for."""

from typing import cast

from imitable.drivers.driver import Driver
from imitable.spec_text import find_method, parse_method, split, text_of

DRIVERS = {
    "sim": "imitable.drivers.simulator:Simulator",
    "franky": "imitable.drivers.franka:Franky",
}
"""Names on the command line, and where each driver lives."""


def parse_driver(text: str) -> Driver:
    """Return the driver that `text` names: a built-in one, or a class of yours (`my_lab.drivers.Mine:address=10.0.0.2`).

    A class of yours is imported, which runs code: only if you typed its name, see `imitable.user_code`.
    """
    return cast(Driver, parse_method(text, {split(text)[0]: find_method(text, DRIVERS, ("connect",))}))


def driver_text(driver: Driver) -> str:
    """Return the text that makes a driver again."""
    return text_of(driver, DRIVERS)
