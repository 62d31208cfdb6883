# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Compiles a model file in a process of its own, so that whatever the file does to MuJoCo ends with it.

`compiling.check` runs this file by its path: `python trial.py MODEL MEGABYTES SECONDS`. It imports MuJoCo and nothing of ours,
and prints JSON: size in bytes, actuators and time step of the compiled model, or the reason why there is none. An adapter file.
"""

import json
import sys
from contextlib import suppress

import mujoco

try:
    import resource
except ImportError:  # Windows has no such limits: only the time that `compiling` waits is bounded there
    resource = None


def limit(megabytes: int, seconds: int) -> None:
    """Bound memory and processor time of this process; leave no core file behind."""
    if resource is None:
        return
    bounds = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: seconds, resource.RLIMIT_AS: megabytes << 20}
    for what, most in bounds.items():
        with suppress(ValueError, OSError):  # macOS does not bound memory; a lower limit of the user stays
            resource.setrlimit(what, (most, resource.getrlimit(what)[1]))


def compiled(path: str) -> dict[str, object]:
    """Return what came of compiling a model and making its data."""
    mujoco.set_mju_user_warning(_ignore)
    try:
        model = mujoco.MjSpec.from_file(path).compile()
        mujoco.MjData(model)
    except Exception as error:  # MuJoCo raises several kinds, and some without a name where memory ends
        memory = isinstance(error, MemoryError) or any(word in str(error) for word in ("allocate", "unknown exception"))
        return {"memory": True} if memory else {"reason": str(error)}
    return {"bytes": mujoco.mj_sizeModel(model), "actuators": model.nu, "timestep": float(model.opt.timestep)}


def _ignore(message: str) -> None:
    """Leave warnings to the process that compiles the file next."""
    del message


if __name__ == "__main__":
    limit(int(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps(compiled(sys.argv[1])))
