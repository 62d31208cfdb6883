# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Policies as ONNX files, for controllers that run no Python.

    observation (N, O) → Sub mean → Div std → Clip ±limit → (Gemm → Tanh)… → Gemm → Mul half range → Add centre → action (N, A)

All in float32, in the actuators' own units, without exploration noise. An adapter file: protobuf's classes have no types.
"""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from imitable.errors import MissingExtra
from imitable.files import write_bytes
from imitable.policies.perceptron import layers_to_arrays
from imitable.types import Policy, Singles

OPSET, IR = 13, 7
"""Versions of operators and of the file: those of ONNX 1.8 (2020), so that old runtimes read it, too."""


def save_onnx(policy: Policy, path: str | Path) -> None:
    """Write the policy's mean action as an ONNX model beside `path`, then rename."""
    write_bytes(Path(path), to_bytes(policy))


def to_bytes(policy: Policy) -> bytes:
    """Return the policy as an ONNX file; equal policies give equal bytes."""
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise MissingExtra("onnx", "onnx") from None
    nodes, arrays = _graph(policy, helper.make_node)
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("observation", TensorProto.FLOAT, ["N", policy.observation_size])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, ["N", policy.action_size])],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR,
        producer_name="imitable",
        producer_version=version("imitable"),
    )
    helper.set_model_props(model, {"robot": policy.about.get("robot", ""), "imitable": version("imitable")})
    return model.SerializeToString(deterministic=True)


def _graph(policy: Policy, node: Any) -> tuple[list[Any], dict[str, Singles]]:
    """Return the operators in order, and the arrays that they use."""
    arrays = {
        "observation_mean": policy.observation_mean,
        "observation_std": policy.observation_std,
        "lowest": np.array(-policy.observation_limit, np.float32),
        "highest": np.array(policy.observation_limit, np.float32),
        "action_half_range": policy.action_half_range,
        "action_centre": policy.action_centre,
        **layers_to_arrays(policy.weights, policy.biases),
    }
    nodes = [
        node("Sub", ["observation", "observation_mean"], ["centred"]),
        node("Div", ["centred", "observation_std"], ["scaled"]),
        node("Clip", ["scaled", "lowest", "highest"], ["hidden0"]),
    ]
    for index in range(len(policy.weights)):
        last = index == len(policy.weights) - 1
        out = "units" if last else f"sum{index}"
        nodes.append(node("Gemm", [f"hidden{index}", f"layer{index}.weight", f"layer{index}.bias"], [out]))
        if not last:
            nodes.append(node("Tanh", [out], [f"hidden{index + 1}"]))
    nodes.append(node("Mul", ["units", "action_half_range"], ["offset"]))
    nodes.append(node("Add", ["offset", "action_centre"], ["action"]))
    return nodes, arrays
