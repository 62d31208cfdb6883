# SPDX-License-Identifier: MIT
"""Runs in an environment with Ray: a cluster of a head and two nodes on 127.0.0.1, one of which is killed in the middle.

python ray_cluster.py FOLDER: makes cells of FOLDER/cells.json in FOLDER/cluster; prints who was lost after which piece.
Without the variable below a Ray on Linux listens on the machine's outer address, and its drivers look for it there.
"""

import json
import os
import sys
from pathlib import Path

from ray.cluster_utils import Cluster

from imitable.experiments.cells import Cell, Terms
from imitable.experiments.jobs import RunJob
from imitable.experiments.protocol import read_protocol
from imitable.experiments.ray_executor import Ray
from imitable.experiments.records import from_json
from imitable.experiments.reproduction import make_cells, workshop_at

FOLDER = Path(sys.argv[1])
assert os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "0"


def main() -> None:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    assert cluster.address.startswith("127.0.0.1:"), cluster.address
    os.environ["RAY_ADDRESS"] = cluster.address
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    protocol = read_protocol(FOLDER / "protocol.json")
    jobs = [from_json(RunJob, one) for one in json.loads((FOLDER / "cells.json").read_text())]
    cells = [Cell("x", "y", str(place), job.seed, job) for place, job in enumerate(jobs)]
    workshop, ended = workshop_at(FOLDER / "cluster", None, Terms(protocol)), list[str]()
    for made in make_cells(cells, workshop, protocol, Ray()):
        assert made.failure is None, made.failure
        ended.append(made.piece.key)
        if made.piece.key.startswith("scores/") and len(nodes) == 2:
            cluster.remove_node(nodes.pop(), allow_graceful=False)  # both nodes are at work: something is lost
    cluster.shutdown()
    print(json.dumps({"ended": ended, "nodes": len(nodes)}))


main()
