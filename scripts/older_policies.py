# SPDX-License-Identifier: MIT
"""The line of a page of results whose records were measured with other demonstrators than those that are shipped now."""

import json
from pathlib import Path

from imitable.policies.shipped import cards, policy_for
from imitable.robots.parse import parse_robot


def mark(results: Path, page: str) -> list[str]:
    """Return what a page says of its demonstrators that were trained anew since; nothing if none was.

    `policies.json` beside the records names the policies that they stand on, by page, body (and @setting) and hash.
    """
    measured: dict[str, str] = json.loads((results / "policies.json").read_text())[page]
    policies = [(said["robot"], said.get("setting", "")) for said in cards()]
    now = {f"{body}@{name}" if name else body: policy_for(parse_robot(body), name).hash for body, name in policies}
    changed = [text for text, value in now.items() if measured.get(text) != value]
    if not changed:
        return []
    bodies = ", ".join(f"`{text}`" for text in changed)
    return [
        f"**All that follows stands on earlier demonstrators.** Trained anew since then, and not measured yet: {bodies}.",
        "",
    ]
