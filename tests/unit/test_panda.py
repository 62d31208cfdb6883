# SPDX-License-Identifier: MIT
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from imitable.errors import BadKnobValue, BadModel
from imitable.robots.panda_model import CLEARANCE_M, DH_TABLE, FLANGE_M, RANGES, TOOL_M
from imitable.robots.parse import parse_robot
from imitable.sim.batch import Batch
from imitable.sim.inverse_kinematics import moved_tools, posed, tool_chain
from imitable.sim.poses import positions
from imitable.sim.reach import Reach
from imitable.sim.single_arm import brought
from imitable.types import Floats

ARMS = ("panda", "panda:dof=3")


def tools(text: str, states: Floats) -> Floats:
    return positions(parse_robot(text), states, ("tool",))[..., 0, :]


def random_states(count: int, seed: int = 0) -> Floats:
    low, high = np.array(RANGES).T
    angles = np.random.default_rng(seed).uniform(low, high, (count, 7))
    return np.concatenate([angles, np.zeros((count, 7))], axis=1)


def by_table(angles: Floats) -> Floats:
    """Return where the tool is by the product of modified Denavit–Hartenberg matrices."""
    frame = np.eye(4)
    for (a, d, alpha), theta in zip(DH_TABLE, angles, strict=True):
        (ct, st), (ca, sa) = (math.cos(theta), math.sin(theta)), (math.cos(alpha), math.sin(alpha))
        frame = frame @ np.array(
            [[ct, -st, 0, a], [st * ca, ct * ca, -sa, -d * sa], [st * sa, ct * sa, ca, d * ca], [0, 0, 0, 1]]
        )
    return (frame @ [0, 0, FLANGE_M + TOOL_M, 1])[:3]


def in_plane(q2: float, q4: float, q6: float) -> tuple[float, float]:
    """Return x and z of the tool by the geometry of a planar chain: every link is a vector that joints 2, 4 and 6 turn."""

    def turned(angle: float, x: float, z: float) -> complex:
        return complex(x, z) * complex(math.cos(angle), -math.sin(angle))

    upper = turned(q2, 0.0825, 0.316)
    fore = turned(q2 - q4, -0.0825, 0.384)
    hand = turned(q2 - q4 - q6, 0.088, -(FLANGE_M + TOOL_M))
    tool = complex(0, 0.333) + upper + fore + hand
    return tool.real, tool.imag


class TestForwardKinematics:
    def test_is_that_of_the_public_table(self) -> None:
        states = random_states(200)
        expected = np.array([by_table(row[:7]) for row in states])
        np.testing.assert_allclose(tools("panda", states), expected, atol=1e-9)

    def test_of_three_joints_has_a_closed_form(self) -> None:
        states = random_states(200)
        states[:, [0, 2, 4]], states[:, 6] = 0.0, math.pi / 4
        expected = np.array([in_plane(*row[[1, 3, 5]]) for row in states])
        found = tools("panda:dof=3", states)
        np.testing.assert_allclose(found[:, [0, 2]], expected, atol=1e-9)
        np.testing.assert_allclose(found[:, 1], 0.0, atol=1e-9)


class TestBody:
    def test_both_arms_have_states_of_one_layout(self) -> None:
        seven, three = (parse_robot(text).layout for text in ARMS)
        assert seven == three
        assert seven.actuators == ("tool_x", "tool_y", "tool_z")

    def test_starts_free_and_inside_its_limits(self) -> None:
        for text in (*ARMS, "panda:scene=box", "panda:dof=3,scene=box"):
            task = Reach(parse_robot(text))
            states = task.start(np.random.default_rng(1), 200).states
            low, high = np.array(RANGES).T
            assert ((states[:, :7] >= low) & (states[:, :7] <= high)).all()
            assert not task.end(task.start(np.random.default_rng(2), 200)).terminated.any()

    def test_other_degrees_of_freedom_are_refused(self) -> None:
        with pytest.raises(BadKnobValue, match="7 or 3"):
            parse_robot("panda:dof=5")

    def test_a_model_of_the_users_own(self, tmp_path: Path) -> None:
        spec = mujoco.MjSpec.from_string("<mujoco><worldbody/></mujoco>")
        path = tmp_path / "none.xml"
        path.write_text(spec.to_xml())
        with pytest.raises(BadModel, match="joint1 to joint7"):
            parse_robot(f"panda:model={path}")

    def test_its_own_model_reads_back_as_a_users_one(self, tmp_path: Path) -> None:
        path = tmp_path / "arm.xml"
        path.write_text(_exported())
        own, read = parse_robot("panda:dof=3"), parse_robot(f"panda:dof=3,model={path}")
        assert own.layout == read.layout
        states = random_states(20)
        np.testing.assert_allclose(tools("panda:dof=3", states), positions(read, states, ("tool",))[:, 0], atol=1e-6)


def _exported() -> str:
    """Return an arm as other people's files have it: fingers that move, servos, a keyframe, no site for the tool."""
    from_table = "".join(
        f'<body name="link{n}" pos="{a} {-d * math.sin(alpha)} {d * math.cos(alpha)}" '
        f'quat="{math.cos(alpha / 2)} {math.sin(alpha / 2)} 0 0"><joint name="joint{n}" range="{low} {high}"/>'
        f'<geom type="sphere" size="0.05" mass="1"/>'
        for n, ((a, d, alpha), (low, high)) in enumerate(zip(DH_TABLE, RANGES, strict=True), start=1)
    )
    turn = f"{math.cos(math.pi / 8)} 0 0 {-math.sin(math.pi / 8)}"
    hand = (
        f'<body name="hand" pos="0 0 {FLANGE_M}" quat="{turn}"><geom type="box" size="0.03 0.1 0.03" mass="0.7"/>'
        '<body name="finger"><joint name="finger_joint1" type="slide" axis="0 1 0" range="0 0.04"/>'
        '<geom type="box" size="0.01 0.01 0.02" pos="0 0 0.09" mass="0.1"/></body></body>'
    )
    return (
        f'<mujoco><compiler angle="radian"/><worldbody>{from_table}{hand}{"</body>" * 7}</worldbody>'
        '<actuator><position joint="finger_joint1" kp="10" ctrlrange="0 0.04"/></actuator>'
        '<keyframe><key qpos="0 0 0 -1 0 1 0 0"/></keyframe></mujoco>'
    )


class TestControl:
    @pytest.mark.parametrize("text", ARMS)
    def test_actions_displace_the_tool(self, text: str) -> None:
        body = parse_robot(text)
        task, batch = Reach(body), Batch(body, 40)
        rng = np.random.default_rng(0)
        batch.set_state(task.start(rng, 40).states)
        for _ in range(12):  # up, away from everything
            batch.step(np.tile([0.0, 0.0, 0.01], (40, 1)))
        batch.step(np.zeros((40, 3)))
        before = task.tools(batch.states)
        actions = rng.uniform(-0.01, 0.01, (40, 3))
        batch.step(actions)
        moved = task.tools(batch.states) - before
        if "dof=3" in text:  # sideways it cannot
            assert np.abs(moved[:, 1]).max() < 1e-9
            moved, actions = moved[:, [0, 2]], actions[:, [0, 2]]
        assert np.abs(moved - actions).max() < 0.003
        assert (np.sign(moved) == np.sign(actions))[np.abs(actions) > 0.003].all()

    def test_three_joints_stay_in_their_plane_even_in_contact(self) -> None:
        body = parse_robot("panda:dof=3")
        task, batch, rng = Reach(body), Batch(body, 30), np.random.default_rng(0)
        batch.set_state(task.start(rng, 30).states)
        touched = np.zeros(30, bool)
        for _ in range(80):
            unstable = batch.step(rng.uniform((-0.004, -0.01, -0.01), (0.01, 0.01, 0.008), (30, 3)))
            assert not unstable.any()
            touched |= task.hits(batch.states)
            assert np.abs(task.tools(batch.states)[:, 1]).max() < 1e-9
        assert touched.any()

    def test_a_step_depends_on_no_other_arm(self) -> None:
        body = parse_robot("panda")
        starts = Reach(body).start(np.random.default_rng(3), 6).states
        actions = np.random.default_rng(4).uniform(-0.01, 0.01, (6, 3))
        together, alone = Batch(body, 6), Batch(body, 1)
        together.set_state(starts)
        together.step(actions)
        alone.set_state(starts[4:5])
        alone.step(actions[4:5])
        np.testing.assert_array_equal(together.states[4], alone.states[0])

    def test_a_displacement_that_only_welded_joints_could_make_moves_nothing(self) -> None:
        body = parse_robot("panda:dof=3")
        before = body.start[None]
        after = moved_tools(body, before, np.array([[0.0, 0.4, 0.0]]))
        np.testing.assert_allclose(after, before, atol=1e-12)

    def test_round_trip_over_the_reach(self) -> None:
        body = parse_robot("panda:dof=3")
        grid = np.array([[x, 0.0, z] for x in np.linspace(0.35, 0.73, 6) for z in np.linspace(0.1, 0.4, 5)])
        states = np.tile(body.start, (len(grid), 1))
        for _ in range(8):
            states = moved_tools(body, states, grid - tools("panda:dof=3", states), steps=8)
        assert np.abs(tools("panda:dof=3", states) - grid).max() < 2e-3

    def test_a_pose_of_seven_joints_is_taken_with_three(self) -> None:
        body, seven = parse_robot("panda:dof=3"), Reach(parse_robot("panda"))
        starts = seven.start(np.random.default_rng(5), 50).states
        own = posed(body, starts)
        assert (own[:, [0, 2, 4]] == 0).all()
        gap = tools("panda:dof=3", own) - seven.tools(starts)
        assert np.abs(gap[:, [0, 2]]).max() < 1e-3
        np.testing.assert_array_equal(posed(body, own), own)


class TestContact:
    def test_a_push_is_caught_before_there_is_any_force(self) -> None:
        """Pins what MuJoCo means by gap: a contact is listed within the clearance, and pushes only from zero on."""
        body = parse_robot("panda:dof=3,scene=box")
        model, state = body.model, body.start.copy()
        data, listed = mujoco.MjData(model), list[tuple[float, int]]()
        for _ in range(300):
            state = moved_tools(body, state[None], np.array([[0.001, 0.0, -0.0005]]))[0]
            data.qpos[:] = state[:7]
            mujoco.mj_forward(model, data)
            if data.ncon:
                listed.append((float(data.contact.dist.min()), int(data.nefc)))
        free = [rows for distance, rows in listed if distance > 0]
        assert len(free) > 3
        assert not any(free)
        assert max(distance for distance, _ in listed) < CLEARANCE_M
        assert any(rows for distance, rows in listed if distance < 0)

    def test_names_the_pair(self) -> None:
        body = parse_robot("panda:dof=3")
        task, state = Reach(body), body.start.copy()
        while not task.hits(state[None])[0]:
            state = moved_tools(body, state[None], np.array([[0.002, 0.0, 0.0]]))[0]
        contact = task.hit_pair(state)
        assert contact is not None
        assert {contact.first, contact.second} in ({"stand1", "held_book"}, {"stand1", "palm"})
        assert 0 < contact.distance_m < CLEARANCE_M


class TestReturn:
    def test_is_what_the_paper_writes(self) -> None:
        """r = −s − 10000 h + 5000 g with s = 50 an action."""
        body = parse_robot("panda:dof=3")
        task = Reach(body)
        start = task.start(np.random.default_rng(0), 1)
        at_goal = _led(body, task.rules.goal)
        hit = _led(body, (0.43, 0.0, 0.12))
        for state, paid, over, absorbing in (
            (start.states[0], -50.0, False, False),
            (at_goal, 4950.0, True, False),
            (hit, -10050.0, True, True),
        ):
            after = type(start)(state[None], np.ones(1, np.int64), start.context)
            assert task.reward(start, np.zeros((1, 3)), after)[0] == paid
            end = task.end(after)
            assert (bool(end.terminated[0]), bool(end.absorbing[0])) == (over, absorbing)
        assert task.horizon * task.rules.action_cost == 8000


def _led(body: object, place: tuple[float, float, float]) -> Floats:
    """Return a state with the tool at a place, over the shelf."""
    robot = parse_robot(str(body))
    state = robot.start[None].copy()
    for way in ((0.35, 0.0, 0.4), (place[0], 0.0, 0.4), place):
        for _ in range(40):
            state = moved_tools(robot, state, np.array([way]) - positions(robot, state, ("tool",))[:, 0], steps=2)
    return state[0]


def test_chain_drives_the_joints_that_have_servos() -> None:
    assert tool_chain(parse_robot("panda")).columns.tolist() == list(range(7))
    assert tool_chain(parse_robot("panda:dof=3")).columns.tolist() == [1, 3, 5]


class TestSingleArm:
    @pytest.mark.parametrize("text", ARMS)
    def test_a_solver_of_its_own_brings_the_tool_to_the_same_place(self, text: str) -> None:
        """An independent implementation: a quadratic programme with hard limits, over its own kinematics."""
        body = parse_robot(text)
        for target in ((0.40, 0.0, 0.30), (0.55, 0.0, 0.35), (0.65, 0.0, 0.25)):
            there = brought(body, body.start, np.array(target))
            np.testing.assert_allclose(tools(text, there[None])[0], target, atol=1e-4)
            ours = body.start[None]
            for _ in range(20):
                ours = moved_tools(body, ours, np.array([target]) - tools(text, ours), steps=2)
            np.testing.assert_allclose(tools(text, ours)[0], target, atol=1e-4)
            if text != "panda":  # one way to hold it: three angles for a place and no tilt
                np.testing.assert_allclose(ours[0, :7], there[:7], atol=2e-2)
                assert np.abs(there[[0, 2, 4]]).max() < 1e-9

    def test_what_is_out_of_reach_is_approached(self) -> None:
        body = parse_robot("panda:dof=3")
        there = brought(body, body.start, np.array([0.5, 0.2, 0.3]))
        np.testing.assert_allclose(tools("panda:dof=3", there[None])[0], [0.5, 0.0, 0.3], atol=1e-3)
