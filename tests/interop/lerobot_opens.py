# SPDX-License-Identifier: MIT
"""Runs in LeRobot's own environment: opens datasets with its real loader, or records one with its real writer.

`lerobot_opens.py open FOLDER` prints what the loader sees as JSON; `lerobot_opens.py record FOLDER` writes a dataset;
`lerobot_opens.py weigh FOLDER` prints what its weighter makes of FOLDER/rabc.parquet, all frames in one batch.
"""

import importlib.machinery
import json
import sys
import types

# The loader imports torchvision for images and video alone, and the data here has none.
for name in ("torchvision", "torchvision.transforms"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None)
sys.modules["torchvision"].transforms = sys.modules["torchvision.transforms"]

import numpy as np  # noqa: E402
import pandas  # noqa: E402
import torch  # noqa: E402
from lerobot.datasets.lerobot_dataset import LeRobotDataset  # noqa: E402
from lerobot.utils.rabc import RABCWeights  # noqa: E402


def seen(folder):
    dataset = LeRobotDataset("imitable/test", root=folder)
    table = dataset.hf_dataset.with_format("arrow")[:]
    step = 1 / dataset.fps
    windows = LeRobotDataset("imitable/test", root=folder, delta_timestamps={"action": [0.0, step, 2 * step]})
    picked = LeRobotDataset("imitable/test", root=folder, episodes=[1])
    last = dataset.meta.episodes[0]["dataset_to_index"] - 1
    item = dataset[last]
    return {
        "fps": dataset.fps,
        "episodes": dataset.num_episodes,
        "frames": len(dataset),
        "columns": {name: table[name].to_pylist() for name in table.column_names},
        "types": {name: str(table[name].type) for name in table.column_names},
        "rows": [dict(row) for row in dataset.meta.episodes],
        "item": {name: value if isinstance(value, str) else value.tolist() for name, value in item.items()},
        "window_is_pad": windows[last]["action_is_pad"].tolist(),
        "window": windows[0]["action"].tolist(),
        "picked": [picked[index]["index"].item() for index in range(len(picked))],
        "stats": {name: {key: np.asarray(x).tolist() for key, x in part.items()} for name, part in dataset.meta.stats.items()},
    }


def record(folder):
    features = {
        "observation.state": {"dtype": "float32", "shape": (3,), "names": ["hip", "knee", "ankle"]},
        "action": {"dtype": "float32", "shape": (2,), "names": {"motors": ["left", "right"]}},
    }
    dataset = LeRobotDataset.create(
        "imitable/test", fps=12.5, features=features, root=folder, robot_type="toy", use_videos=False
    )
    for episode in range(3):
        for frame in range(4 + episode):
            state = np.array([episode, frame, 0.1], np.float32)
            dataset.add_frame({"observation.state": state, "action": state[:2] / 3, "task": "walk"})
        dataset.save_episode()
    dataset.finalize()


def weighed(folder):
    weighter = RABCWeights(f"{folder}/rabc.parquet", chunk_size=50, kappa=1e9, device=torch.device("cpu"))
    frames = len(pandas.read_parquet(f"{folder}/weights.parquet"))
    weights, _ = weighter.compute_batch_weights({"index": torch.arange(frames)})
    return weights.tolist()


if __name__ == "__main__":
    verb, where = sys.argv[1:]
    done = {"open": seen, "record": record, "weigh": weighed}[verb](where)
    print(json.dumps(done))
