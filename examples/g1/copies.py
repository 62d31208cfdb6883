# SPDX-License-Identifier: MIT
"""Two copies of a clip that a G1 can hardly follow: twice as fast, and lifted by 0.3 m. python copies.py DEMOS COPIES."""

import sys

import imitable as im

CLIP, LIFT_M = "sub3_largebox_003_mj", 0.3


def main(demos_path: str, copies_path: str) -> None:
    """Read the clip, write its copies."""
    demos = im.read(demos_path)
    [clip] = [one for one in demos if one.demonstrator == CLIP]
    fast, lifted = clip.states[::2].copy(), clip.states.copy()
    fast[:, demos.layout.nq :] *= 2  # every second frame, twice the velocities
    lifted[:, 2] += LIFT_M
    im.write(copies_path, demos.layout, [im.Trajectory(fast, "twice as fast"), im.Trajectory(lifted, "lifted")])


if __name__ == "__main__":
    main(*sys.argv[1:])
