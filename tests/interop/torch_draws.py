# SPDX-License-Identifier: MIT
"""Runs in an environment with torch: a real `DataLoader` draws by a sampler of ours; prints how often it drew each place."""

import json
import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from imitable.sampling import WeightedSampler

probabilities = np.array(json.loads(sys.argv[1]))
data = TensorDataset(torch.arange(len(probabilities)))
loader = DataLoader(data, batch_size=256, sampler=WeightedSampler(probabilities, samples=int(sys.argv[2]), seed=1))
counts = torch.zeros(len(probabilities), dtype=torch.long)
for (places,) in loader:
    counts += torch.bincount(places, minlength=len(probabilities))
print(json.dumps({"batches": len(loader), "counts": counts.tolist()}))
