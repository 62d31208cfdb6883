# SPDX-License-Identifier: MIT
# pyright: basic, reportMissingImports=false
"""Behaviour cloning in plain PyTorch. Knows nothing of robots: transitions, perhaps a weight each, and a network.

python clone.py transitions.npz policy.npz SEED [--weighted]
"""

import sys

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

STEPS, BATCH = 600, 128


def train(source: str, out: str, seed: int, weighted: bool) -> None:
    """Fit a = μ(s) by squared error; transitions are drawn by weight, or uniformly."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    held = np.load(source)
    mean, std = held["obs"].mean(0), held["obs"].std(0) + 1e-6
    states = torch.tensor((held["obs"] - mean) / std, dtype=torch.float32)
    actions = torch.tensor(held["acts"], dtype=torch.float32)
    weights = held["weights"] if weighted else np.ones(len(states))
    sampler = WeightedRandomSampler(torch.tensor(weights), STEPS * BATCH)
    layers = [torch.nn.Linear(states.shape[1], 64), torch.nn.Linear(64, 64), torch.nn.Linear(64, actions.shape[1])]
    model = torch.nn.Sequential(layers[0], torch.nn.Tanh(), layers[1], torch.nn.Tanh(), layers[2])
    optimiser = torch.optim.Adam(model.parameters(), 1e-3)
    for wanted, given in DataLoader(TensorDataset(states, actions), batch_size=BATCH, sampler=sampler):
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(model(wanted), given).backward()
        optimiser.step()
    arrays = {f"w{k}": layer.weight.detach().numpy() for k, layer in enumerate(layers)}
    biases = {f"b{k}": layer.bias.detach().numpy() for k, layer in enumerate(layers)}
    np.savez(out, mean=mean, std=std, **arrays, **biases)


if __name__ == "__main__":
    train(sys.argv[1], sys.argv[2], int(sys.argv[3]), "--weighted" in sys.argv)
