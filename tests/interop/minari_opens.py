# SPDX-License-Identifier: MIT
"""Runs in Minari's own environment: opens a dataset by its id with the real loader, or records one with the real writer."""

import json
import sys

import gymnasium
import minari
import numpy as np
from minari.data_collector import EpisodeBuffer


def seen(name):
    dataset = minari.load_dataset(name)
    rows = list(dataset.storage.get_episode_metadata(range(len(dataset))))
    return {
        "id": dataset.spec.dataset_id,
        "steps": int(dataset.total_steps),
        "episodes": [
            {
                "observations": episode.observations.tolist(),
                "actions": episode.actions.tolist(),
                "terminated": bool(episode.terminations[-1]),
                "truncated": bool(episode.truncations[-1]),
            }
            for episode in dataset
        ],
        "weights": [float(row["weight"]) for row in rows],
        "feasibility": [float(row["feasibility"]) for row in rows],
    }


def record(name, storage):
    box = gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float64)
    seen = gymnasium.spaces.Dict({"joints": box, "touch": gymnasium.spaces.Discrete(2)})
    buffers = []
    for k in range(3):
        states = np.arange(3 * (6 + k)).reshape(-1, 3) / 100 + k
        actions = [np.array([k, 0.1, 0.2]) for _ in range(5 + k)]
        ends = [False] * (4 + k) + [True]
        infos = {"qpos": states, "qvel": np.full_like(states, 0.5)}
        buffers.append(
            EpisodeBuffer(
                id=None,
                seed=10 + k,
                observations={"joints": list(states), "touch": [0] * (6 + k)},
                actions=actions,
                rewards=[1.0] * (5 + k),
                terminations=ends,
                truncations=[False] * (5 + k),
                infos=infos,
            )
        )
    minari.create_dataset_from_buffers(name, buffers, observation_space=seen, action_space=box, data_format=storage)


if __name__ == "__main__":
    verb, *what = sys.argv[1:]
    print(json.dumps(seen(*what)) if verb == "open" else record(*what))
