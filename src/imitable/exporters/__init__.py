# SPDX-License-Identifier: MIT
"""Scores for other people's trainers, one whole file a form, and the table that loads one by its name when it is asked for."""

FORMS = {
    "csv": "imitable.exporters.table:write_table",
    "lerobot": "imitable.exporters.lerobot:write_lerobot",
    "lerobot-weights": "imitable.exporters.lerobot_weights:write_weights",
    "motions-yaml": "imitable.exporters.motions:write_motions",
    "minari": "imitable.exporters.minari:write_minari",
    "robomimic": "imitable.exporters.robomimic:write_robomimic",
    "lafan1": "imitable.exporters.clips:write_lafan1",
    "gmr": "imitable.exporters.clips:write_gmr",
    "holosoma": "imitable.exporters.clips:write_holosoma",
}
"""Names on the command line, and the function that writes each."""
