# SPDX-License-Identifier: MIT
"""Train every demonstrator and imitator of the paper's six settings, and write policy and card into the package.

Each recipe is one `imitable train` command, or a chain of them; it waits for the policy it begins from. Every policy is judged
by `evaluation/acceptance.py`, and its card says what came out. Policies that are there are left alone, so that a killed run
goes on with what is missing:  python scripts/train_demonstrators.py [--set b] [ROBOT[@SETTING]…]

With --check nothing in the package is touched: policies are remade in build/, and their tensors are compared with those that
are shipped, bit by bit. One line each; exit code 1 if one differs.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
from pathlib import Path

import numpy as np
from demonstrator_recipes import RECIPES, Recipe

from imitable.evaluation.acceptance import judge
from imitable.policies.files import load_policy
from imitable.policies.shipped import SETS, folder
from imitable.robots.parse import parse_robot
from imitable.sim.task import Locomotion
from imitable.tensors import Arrays, read

PROCESSES = 2
ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
"""Where policies are while they are trained or checked."""


def train(recipe: Recipe) -> str | None:
    """Run one recipe, then move policy and card into the package together; return a line about it, or None if it failed."""
    work = BUILD / "demonstrators" / recipe.set_name / recipe.name
    work.mkdir(parents=True, exist_ok=True)
    done = make(recipe, work)
    if done.returncode:
        print(f"{recipe.title}: failed: {done.stderr.strip()}", flush=True)
        return None
    result, policy = json.loads(done.stdout), work / f"{recipe.name}.safetensors"
    judged = judge(Locomotion(parse_robot(recipe.robot)), load_policy(policy))
    card = {
        "schema": 2,
        "robot": result["robot"],
        "setting": recipe.setting,
        "set": recipe.set_name,
        "command": recipe.command,
        "seed": recipe.seed,
        "steps": result["steps"],
        **judged.summary(),
        "refusals": list(judged.refusals),
        "from_paper": {one.name: round(judged.mean.mean / one.paper_return - 1, 3) for one in recipe.settings},
        "log_std": result["log_std"],
        "paper_demonstrations": recipe.paper,
        "note": recipe.note,
    }
    written, home = policy.with_suffix(".json"), folder(recipe.set_name)
    written.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n")
    home.mkdir(exist_ok=True)
    policy.replace(home / policy.name)
    written.replace(home / written.name)
    verdict = "; ".join(judged.refusals) or "accepted"
    numbers = f"mean {judged.mean.summary()}, sampled {judged.sampled.summary()}"
    return f"{recipe.title}: {result['steps']:,} steps, {numbers}: {verdict}"


def make(recipe: Recipe, work: Path) -> subprocess.CompletedProcess[str]:
    """Run the commands of a recipe in a folder, going on with what is there; return what the last one said."""
    policy = work / f"{recipe.name}.safetensors"
    *before, main = recipe.runs
    for run in before:
        if not (work / run[-1]).exists() and (done := imitable([*run, "--resume"], work)).returncode:
            return done
    return imitable([*main, "--out", policy.name, "--json", "--overwrite" if policy.exists() else "--resume"], work)


def imitable(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one command line in a folder, with the code beside this script, whatever else is installed."""
    command = [sys.executable, "-m", "imitable", *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


def is_done(recipe: Recipe) -> bool:
    """Return whether the card is there, which comes last."""
    return (folder(recipe.set_name) / f"{recipe.name}.json").exists()


def train_missing(recipes: Iterable[Recipe]) -> None:
    """Run the recipes that are missing, those that begin from another after it."""
    waiting, failed = [recipe for recipe in recipes if not is_done(recipe)], list[Recipe]()
    running: dict[Future[str | None], Recipe] = {}
    with ThreadPoolExecutor(PROCESSES) as pool:
        while waiting or running:
            awaited = {(one.robot, one.set_name) for one in [*waiting, *running.values(), *failed] if not one.setting}
            for recipe in [one for one in waiting if (one.begin, one.set_name) not in awaited][: PROCESSES - len(running)]:
                waiting.remove(recipe)
                running[pool.submit(train, recipe)] = recipe
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                recipe = running.pop(future)
                if (line := future.result()) is None:
                    failed.append(recipe)
                else:
                    print(line, flush=True)
    if failed or waiting:
        sys.exit(f"not trained: {', '.join(sorted(recipe.title for recipe in [*failed, *waiting]))}")


def check(recipe: Recipe) -> tuple[bool, str]:
    """Remake a policy from nothing in build/; return whether it is the shipped one, and a line about it."""
    shipped, work = folder(recipe.set_name) / f"{recipe.name}.safetensors", BUILD / "check" / recipe.set_name / recipe.name
    if not shipped.exists():
        return False, f"{recipe.title}: not shipped"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    done = make(recipe, work)
    if done.returncode:
        return False, f"{recipe.title}: failed: {done.stderr.strip()}"
    differing = differences(numbers_of(shipped), numbers_of(work / shipped.name))
    verdict = f"differs in {', '.join(differing)}" if differing else "the same bits"
    return not differing, f"{recipe.title}: {verdict}"


def numbers_of(policy: Path) -> Arrays:
    """Return all that a policy file holds numbers of, by name: its tensors, and the limit of its observations."""
    arrays, metadata = read(policy)
    return arrays | {"observation_limit": np.array(float(metadata["observation_limit"]))}


def differences(one: Arrays, other: Arrays) -> list[str]:
    """Return the names of the tensors that are not the same in kind, shape and bits, or are in one of both only."""
    return [name for name in sorted({*one, *other}) if _bits(one, name) != _bits(other, name)]


def _bits(arrays: Arrays, name: str) -> tuple[str, tuple[int, ...], bytes] | None:
    return (str(arrays[name].dtype), arrays[name].shape, arrays[name].tobytes()) if name in arrays else None


def check_all(recipes: Sequence[Recipe]) -> bool:
    """Check recipes side by side, a line each; all begin from shipped policies, so none waits. Return whether none differs."""
    verdicts: list[bool] = []
    with ThreadPoolExecutor(PROCESSES) as pool:
        for future in as_completed([pool.submit(check, recipe) for recipe in recipes]):
            same, line = future.result()
            print(line, flush=True)
            verdicts.append(same)
    return all(verdicts)


def chosen(names: Sequence[str], set_name: str) -> list[Recipe]:
    """Return the recipes of a set: all, or those of some families, bodies, or bodies in a setting (`ROBOT@SETTING`)."""
    mine = [recipe for recipe in RECIPES if recipe.set_name == set_name]
    titles = [{one.robot.partition(":")[0], one.robot, f"{one.robot}@{one.setting}"} for one in mine]
    if unknown := set(names) - set().union(*titles):
        print(f"no recipe of set {set_name} for {', '.join(sorted(unknown))}", file=sys.stderr)
        sys.exit(2)
    return [recipe for recipe, title in zip(mine, titles, strict=True) if not names or title & set(names)]


def main() -> None:
    """Train what is missing, or check what is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", help="families, robots or ROBOT@SETTING; default: all")
    parser.add_argument("--set", choices=SETS, default="a", help="of demonstrators")
    parser.add_argument("--check", action="store_true", help="remake policies in build/ and compare them with the shipped ones")
    asked = parser.parse_args()
    recipes = chosen(asked.robots, asked.set)
    if asked.check:
        sys.exit(not check_all(recipes))
    train_missing(recipes)


if __name__ == "__main__":
    main()
