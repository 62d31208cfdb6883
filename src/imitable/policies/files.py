# SPDX-License-Identifier: MIT
"""Policies as safetensors files. No pickle is ever written or read."""

import json
from pathlib import Path

from imitable import tensors
from imitable.errors import BadPolicy
from imitable.files import write_bytes
from imitable.policies.perceptron import layers_from_arrays, layers_to_arrays
from imitable.types import Policy

SCHEMA = 1


def to_bytes(policy: Policy) -> bytes:
    """Return the policy as a safetensors file."""
    arrays: tensors.Arrays = {
        "log_std": policy.log_std,
        "observation_mean": policy.observation_mean,
        "observation_std": policy.observation_std,
        "action_centre": policy.action_centre,
        "action_half_range": policy.action_half_range,
    }
    arrays |= layers_to_arrays(policy.weights, policy.biases)
    metadata = {"schema": str(SCHEMA), "observation_limit": repr(policy.observation_limit), "about": json.dumps(policy.about)}
    return tensors.to_bytes(arrays, metadata)


def save_policy(policy: Policy, path: str | Path) -> None:
    """Write the policy beside `path`, then rename."""
    write_bytes(Path(path), to_bytes(policy))


def load_policy(path: str | Path) -> Policy:
    """Read a policy file."""
    try:
        arrays, metadata = tensors.read(Path(path))
        if int(metadata["schema"]) > SCHEMA:
            raise BadPolicy(str(path), f"written by a newer imitable (schema {metadata['schema']}, this one reads {SCHEMA})")
        weights, biases = layers_from_arrays(arrays)
        return Policy(
            weights=weights,
            biases=biases,
            log_std=arrays["log_std"],
            observation_mean=arrays["observation_mean"],
            observation_std=arrays["observation_std"],
            action_centre=arrays["action_centre"],
            action_half_range=arrays["action_half_range"],
            observation_limit=float(metadata["observation_limit"]),
            about=json.loads(metadata["about"]),
        )
    except FileNotFoundError:
        raise BadPolicy(str(path), "no such file") from None
    except (tensors.DamagedFile, KeyError, ValueError) as error:
        raise BadPolicy(str(path), f"not a policy file of imitable ({error})") from None
