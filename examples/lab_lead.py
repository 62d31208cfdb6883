# SPDX-License-Identifier: MIT
"""A lab lead buys demonstrations: score a few of everybody, ask the right ones within a budget, look at what it brought.

Three swimmers offer demonstrations at different prices for a robot whose back joint is stiff. Two of each are bought blindly,
then `acquire` says whom to ask for six more. What six more of everybody alike would have brought is shown beside it.

python examples/lab_lead.py
"""

import imitable as im

ROBOT = "swimmer:back=10"
PRICES = {"swimmer:back=12": 3.0, "swimmer:back=20": 2.0, "swimmer": 1.0}
BUDGET = 6


def bought(name: str, episodes: int, seed: int) -> list[im.Trajectory]:
    """Record demonstrations of one swimmer."""
    body = im.robot(name)
    return list(im.collect(im.Locomotion(body), im.policy_for(body), episodes, seed))


def scored(demos: list[im.Trajectory]) -> im.Scores:
    """Score the first second of every demonstration on our robot."""
    return im.score(im.InMemory(im.robot(ROBOT).layout, demos), ROBOT, "direct:window_s=0.3")


def report(what: str, scores: im.Scores) -> None:
    """Say what a set is worth."""
    feasible = scores.verdict.count("feasible")
    spent = sum(PRICES[episode.demonstrator] for episode in scores.episodes)
    size = scores.weights.effective_size
    print(f"{what}: {len(scores)} demonstrations for {spent:g}, {feasible} feasible, effective sample size {size:.1f}")


def main() -> None:
    """Buy a few of everybody, ask whom to ask, compare."""
    first = [demo for name in PRICES for demo in bought(name, 2, seed=0)]
    scores = scored(first)
    report("two of everybody", scores)
    advice = im.acquire(scores, BUDGET, costs=PRICES)
    for source in advice.sources:
        interval = f"{source.low:.0%} to {source.high:.0%}"
        print(f"  {source.name:16} feasible {source.feasible:4.0%} ({interval}), ask for {source.queries}")
    print(f"advice: {advice.sentence}")
    asked = [demo for source in advice.sources if source.queries for demo in bought(source.name, source.queries, seed=1)]
    report("six more as advised", scored(asked))
    evenly = [demo for name in PRICES for demo in bought(name, BUDGET // len(PRICES), seed=1)]
    report("six more of everybody alike", scored(evenly))


if __name__ == "__main__":
    main()
