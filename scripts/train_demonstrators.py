# SPDX-License-Identifier: MIT
"""Train every demonstrator and imitator of the paper's six settings, and write policy and card into the package.

Each row is one `imitable train` command; a row waits for the policy it begins from. Policies that are there are left alone, so
that a killed run goes on with what is missing:  python scripts/train_demonstrators.py [ROBOT…]
"""

import json
import shlex
import subprocess
import sys
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from imitable.policies.shipped import file_name, folder

PROCESSES = 2
WORK = Path(__file__).resolve().parents[1] / "build" / "demonstrators"
"""Where policies are while they are trained."""


@dataclass(frozen=True)
class Recipe:
    """One demonstrator: how it is trained, and what the paper's demonstrations of its setting return."""

    robot: str
    steps: int
    goal: float
    paper: str
    method: str = "trpo"
    begin: str | None = None
    practice: tuple[str, ...] = ()
    """Options of runs before, each of which begins from the policy of the one before it."""
    seed: int = 0
    note: str = ""

    @property
    def runs(self) -> list[list[str]]:
        """The command lines in their order, the last one without its output."""
        common = ["train", self.robot, "--seed", str(self.seed)]
        before: list[list[str]] = []
        begin = ["--begin", self.begin] if self.begin else []
        for stage, options in enumerate(self.practice):
            before.append([*common, *options.split(), *begin, "--out", f"practice{stage}.safetensors"])
            begin = ["--begin", f"practice{stage}.safetensors"]
        budget = ["--method", self.method, "--steps", str(self.steps), "--goal", f"{self.goal:g}"]
        return [*before, [*common, *budget, *begin]]

    @property
    def command(self) -> str:
        """What to type for the same policy."""
        *before, main = self.runs
        return " && ".join(f"imitable {shlex.join(run)}" for run in [*before, [*main, "--out", "policy.safetensors"]])


HOPPER = "3460 ± 87"
CHEETAH = "3229 ± 170 (first setting), 3337 ± 67 (second)"
WALKER = "3098 ± 118 (first setting), 3720 ± 336 (second)"
SWIMMER = "106 ± 3"

CAREFUL = "ppo:log_std=-1,log_std_end=-2"
"""For a run that begins from another body's policy: explore less, keep the gait."""

FAR_SIGHTED = "trpo:discount=0.995"
"""For low gravity, where a hop takes a second and a mistake shows late."""

PATIENT = "ppo:discount=0.999,gae_lambda=0.98"
"""For the Swimmer, whose strokes pay late."""

STROKE = PATIENT + ",log_std=-0.2,log_std_end=-1,critic_steps=40000"
QUIET_STROKE = PATIENT + ",log_std=-0.5,log_std_end=-1.3,critic_steps=40000"

HALF_TURN = (
    f"--headings 180 180 --method {PATIENT} --steps 250000",
    f"--headings 0 180 --method {PATIENT},log_std=-0.7 --steps 800000",
    f"--headings 40 100 --method {STROKE} --steps 200000",
    f"--headings 15 70 --method {STROKE} --steps 200000",
    f"--headings 0 45 --method {STROKE} --steps 200000",
)
"""A Swimmer whose back joint hardly moves is the mirror image of one whose front joint hardly moves: it swims the other way.
So it practises facing backwards first, and then from headings ever nearer to the start, so that it learns to turn."""

MIRRORED = (
    "This body is the mirror image of one with a stiff front joint and swims the other way, so it must turn first. "
    "It folds its front joint to the limit, which turns it by about 65 degrees, and beats steadily from there, without pauses. "
    "Facing backwards from the start, back=12 returned 77 with a stretched stroke; that stroke was not reached from this start."
)

RECIPES = (
    Recipe("hopper", 2_500_000, 3430, HOPPER),
    Recipe("hopper:gravity=15", 1_500_000, 3430, HOPPER, CAREFUL, begin="hopper"),
    Recipe("hopper:gravity=20", 2_500_000, 3430, HOPPER, CAREFUL, begin="hopper:gravity=15"),
    Recipe(
        "hopper:gravity=2",
        2_000_000,
        3430,
        HOPPER,
        FAR_SIGHTED,
        note="Slower than the band: a hop at a fifth of the gravity takes a second; the return still rose at the end.",
    ),
    Recipe(
        "hopper:gravity=5",
        1_500_000,
        3430,
        HOPPER,
        CAREFUL + ",discount=0.995",
        begin="hopper:gravity=2",
        note="Slower than the band: begun from the slow hop of gravity 2; runs begun from faster hops fell within 500 steps.",
    ),
    Recipe("half_cheetah:front=0.01", 1_500_000, 3250, CHEETAH),
    Recipe("half_cheetah:front=0.05", 1_500_000, 3250, CHEETAH),
    Recipe("half_cheetah:front=0.5", 1_500_000, 3250, CHEETAH),
    Recipe("half_cheetah:back=0.5", 2_000_000, 3250, CHEETAH),
    Recipe("half_cheetah:back=0.05", 1_500_000, 3250, CHEETAH),
    Recipe("half_cheetah:back=0.01", 1_500_000, 3250, CHEETAH),
    Recipe("walker2d:friction=24.9", 4_000_000, 3300, WALKER),
    Recipe("walker2d", 4_000_000, 3300, WALKER),
    Recipe("walker2d:friction=19.9", 2_000_000, 3300, WALKER, CAREFUL, begin="walker2d:friction=24.9"),
    Recipe("walker2d:friction=29.9", 2_000_000, 3300, WALKER, CAREFUL, begin="walker2d:friction=24.9"),
    Recipe("walker2d:friction=9.9", 2_000_000, 3300, WALKER, CAREFUL, begin="walker2d:friction=19.9"),
    Recipe("walker2d:friction=0.7", 2_000_000, 3300, WALKER, CAREFUL, begin="walker2d"),
    Recipe("walker2d:friction=1.1", 2_000_000, 3300, WALKER, CAREFUL, begin="walker2d"),
    Recipe("swimmer:front=10", 700_000, 106, SWIMMER, PATIENT),
    Recipe("swimmer", 300_000, 106, SWIMMER, PATIENT + ",log_std=-0.7,critic_steps=40000", begin="swimmer:front=10"),
    Recipe("swimmer:back=12", 400_000, 106, SWIMMER, STROKE, practice=HALF_TURN, note=MIRRORED),
    Recipe("swimmer:back=10", 400_000, 106, SWIMMER, QUIET_STROKE, begin="swimmer:back=12", note=MIRRORED),
    Recipe("swimmer:back=20", 400_000, 106, SWIMMER, QUIET_STROKE, begin="swimmer:back=12", note=MIRRORED),
)


def train(recipe: Recipe) -> str | None:
    """Run one recipe, then move policy and card into the package together; return a line about it, or None if it failed."""
    work = WORK / file_name(recipe.robot)
    work.mkdir(parents=True, exist_ok=True)
    policy = work / f"{file_name(recipe.robot)}.safetensors"
    *before, main = recipe.runs
    for run in before:
        if not (work / run[-1]).exists():
            imitable([*run, "--resume"], work)
    done = imitable([*main, "--out", policy.name, "--json", "--overwrite" if policy.exists() else "--resume"], work)
    if done.returncode:
        print(f"{recipe.robot}: failed: {done.stderr.strip()}", flush=True)
        return None
    result = json.loads(done.stdout)
    card = {
        "schema": 1,
        "robot": result["robot"],
        "command": recipe.command,
        "steps": result["steps"],
        "reached_goal": result["reached_goal"],
        "mean_actions": result["mean_actions"],
        "sampled_actions": result["sampled_actions"],
        "log_std": result["log_std"],
        "paper_demonstrations": recipe.paper,
        "note": recipe.note,
    }
    written = policy.with_suffix(".json")
    written.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n")
    policy.replace(folder() / policy.name)
    written.replace(folder() / written.name)
    return f"{recipe.robot}: {result['steps']:,} steps, mean {card['mean_actions']}, sampled {card['sampled_actions']}"


def imitable(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one command line in a folder."""
    command = [sys.executable, "-m", "imitable.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def is_done(recipe: Recipe) -> bool:
    """Return whether the card is there, which comes last."""
    return (folder() / f"{file_name(recipe.robot)}.json").exists()


def main() -> None:
    """Run all recipes that are missing, those that begin from another after it."""
    wanted = sys.argv[1:]
    waiting = [
        r for r in RECIPES if not is_done(r) and (not wanted or r.robot.partition(":")[0] in wanted or r.robot in wanted)
    ]
    running: dict[Future[str | None], Recipe] = {}
    failed: set[str | None] = set()
    with ThreadPoolExecutor(PROCESSES) as pool:
        while waiting or running:
            missing = {r.robot for r in waiting} | {r.robot for r in running.values()} | failed
            for recipe in [r for r in waiting if r.begin not in missing][: PROCESSES - len(running)]:
                waiting.remove(recipe)
                running[pool.submit(train, recipe)] = recipe
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                recipe = running.pop(future)
                if (line := future.result()) is None:
                    failed.add(recipe.robot)
                else:
                    print(line, flush=True)
    if failed or waiting:
        sys.exit(f"not trained: {', '.join(sorted([*map(str, failed), *(r.robot for r in waiting)]))}")


if __name__ == "__main__":
    main()
