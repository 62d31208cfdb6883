# SPDX-License-Identifier: MIT
"""Every error a user can cause. Each message is one line: what is wrong, and what would be right."""

import difflib
import re
from collections.abc import Callable, Iterable

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""C0, C1 and bidirectional controls, line separators, and bytes of file names that are no text."""


def printable(line: str) -> str:
    r"""Return a line that does nothing to a terminal but stand there: control characters become \x1b and the like.

    Names come from files; everything that is printed goes through here.
    """
    return _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], line)


class ImitableError(Exception):
    """Base of all errors caused by input; the command line prints it and exits with code 2."""

    exit_code = 2
    """What the command line leaves with."""

    def __init__(self, message: str) -> None:
        """Keep `message` on one line that can be printed, whatever was put into it."""
        super().__init__(printable(" ".join(message.split())))

    def __reduce__(self) -> "tuple[Callable[..., ImitableError], tuple[type[ImitableError], str]]":
        """Let an error cross from a worker process with the message it has, whatever its class needs to be made."""
        return _restored, (type(self), str(self))


class ScoreWarning(UserWarning):
    """What one should know before using scores, with the remedy: the command line prints it, in Python it is a warning."""


def _restored(kind: type[ImitableError], message: str) -> ImitableError:
    error = kind.__new__(kind)
    ImitableError.__init__(error, message)
    return error


def one_of(wrong: str, choices: Iterable[str]) -> str:
    """Return `did you mean …? Choose from …` for a name that is not among `choices`."""
    names = sorted(choices)
    close = difflib.get_close_matches(wrong, names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}Choose from: {', '.join(names) or '(none)'}"


class UnknownRobot(ImitableError):
    """The text names no built-in family of robots and no MJCF file."""

    def __init__(self, name: str, choices: Iterable[str]) -> None:
        super().__init__(
            f"unknown robot {name!r}: {one_of(name, choices)}, or the path of an MJCF file (.xml) or URDF,"
            " a Gymnasium MuJoCo environment (Ant-v5), or menagerie:NAME"
        )


class UnknownKnob(ImitableError):
    """The family has no such knob."""

    def __init__(self, robot: str, knob: str, choices: Iterable[str]) -> None:
        super().__init__(f"robot {robot!r} has no knob {knob!r}: {one_of(knob, choices)}")


class BadKnobValue(ImitableError):
    """A knob's value cannot be read, or lies outside its range."""

    def __init__(self, robot: str, knob: str, value: str, expected: str) -> None:
        super().__init__(f"{robot}: {knob}={value} is not allowed: give {expected}")


class BadSpec(ImitableError):
    """A robot or method text is malformed."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"cannot read {text!r}: {reason}; write NAME[:KEY=VALUE[,KEY=VALUE…]]")


class BadModel(ImitableError):
    """An MJCF file cannot be compiled, or is no robot that can be controlled."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")


class MixedRobots(ImitableError):
    """Robots that cannot share one batch."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"these robots cannot be simulated in one batch: {reason}")


class BadTrajectory(ImitableError):
    """Arrays that do not make a trajectory."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"not a trajectory: {reason}")


class UnstableSimulation(ImitableError):
    """A simulation failed in its very first step, so that there is no episode to speak of."""

    def __init__(self, robot: str, seed: int) -> None:
        super().__init__(
            f"{robot} is unstable in the first step of episode seed {seed}: use a smaller time step or weaker gears"
        )


class BadPolicy(ImitableError):
    """A policy file is damaged, or does not fit the robot at hand."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"policy {what}: {reason}")


class NoDemonstrator(ImitableError):
    """No policy is shipped for this robot, or none in the set that was asked for."""

    def __init__(self, robot: str, choices: Iterable[str], *, can_train: bool, set_name: str = "") -> None:
        """`set_name` is the set that lacks it, if another one has it."""
        others = ", ".join(sorted(choices))
        if set_name:
            instead = f", or choose from: {others}" if others else ""
            super().__init__(f"set {set_name} has no demonstrator for {robot!r}: leave --set out for the one of set a{instead}")
            return
        train = f"train one (imitable train {robot} --out policy.safetensors) and " if can_train else ""
        super().__init__(f"no demonstrator is shipped for {robot!r}: {train}give --policy FILE, or choose from: {others}")


class BadDataset(ImitableError):
    """A demonstration folder is missing, damaged or half-written."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} is not a readable set of demonstrations: {reason}")


class BadMapping(ImitableError):
    """Columns of the data that are not the robot's joints, or a mapping of other data."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where} does not map onto the robot: {reason}")


class MixedDatasets(ImitableError):
    """Several folders that cannot be read as one set."""

    def __init__(self, first: str, other: str, reason: str) -> None:
        super().__init__(f"{first} and {other} cannot be read as one set: {reason}")


class OutputExists(ImitableError):
    """The output is there already."""

    def __init__(self, path: str, *, resume: bool) -> None:
        choices = "--resume to continue it, --overwrite to replace it" if resume else "--overwrite to replace it"
        super().__init__(f"{path} exists: give {choices}, or another --out")


class Busy(ImitableError):
    """Another process is writing the same output."""

    def __init__(self, path: str) -> None:
        super().__init__(f"another process is writing {path}: wait for it, or give another --out")


class CannotWrite(ImitableError):
    """The disk refuses: full, read-only, or a missing parent."""

    def __init__(self, path: str, reason: str, kept: str = "nothing was left behind") -> None:
        """`kept` tells what stands on the disk, and how to go on with it."""
        self.path, self.reason = path, reason
        super().__init__(f"cannot write {path}: {reason}; {kept}")


class CannotResume(ImitableError):
    """A checkpoint is missing, damaged, or belongs to other settings."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"cannot resume {path}: {reason}; use the same settings, or --overwrite to start anew")


class BadOption(ImitableError):
    """A method's key or value, or a command line option, is not allowed."""

    def __init__(self, name: str, value: object, expected: str) -> None:
        super().__init__(f"{name}={value} is not allowed: {expected}")


class BadWeights(ImitableError):
    """Weights or scores that are no weights, or not those of the demonstrations at hand."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"these weights cannot be used: {reason}; score the demonstrations at hand (imitable score)")


class BadScores(ImitableError):
    """A score file is missing, damaged or of another kind."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} is not a readable score file: {reason}")


class BadRecord(ImitableError):
    """A record of an experiment is of another version, or was changed by hand."""

    def __init__(self, where: str, reason: str) -> None:
        self.reason = f"{where}: {reason}"
        super().__init__(f"{self.reason}: take the record away to make it again")


class BadEpisode(ImitableError):
    """A demonstration that cannot be judged."""

    def __init__(self, source: str, index: int, reason: str) -> None:
        super().__init__(f"episode {index} of {source or 'the set'} cannot be judged: {reason}")


class MissingExtra(ImitableError):
    """A package that only some users need is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs the package {package!r}: use pip install 'imitable[{extra}]'")


class CellsFailed(ImitableError):
    """Some cells of an experiment cannot be made; all others were."""

    def __init__(self, count: int, first: str, reason: str, *, fault: bool = False) -> None:
        if fault:
            self.exit_code = 1  # no input can be set right
        more = f" (and {count - 1} more)" if count > 1 else ""
        super().__init__(f"{first}{more} cannot be made: {reason}; all else was, and the same command goes on")


class NoRun(ImitableError):
    """A folder that should hold a run does not."""

    def __init__(self, path: str, reason: str = "there is no setting.json in it") -> None:
        super().__init__(f"{path} is no run folder: {reason}; make one with imitable imitate --out {path}")


class RuleBroken(ImitableError):
    """A rule of `score --fail-on` is broken; the score file is written all the same. Exit code 3."""

    exit_code = 3

    def __init__(self, broken: Iterable[str]) -> None:
        super().__init__(f"--fail-on: {'; '.join(broken)}; the scores are written, for use")


class BadCommand(ImitableError):
    """A command that no arm can be sent."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the arm was not commanded: {reason}")


class BeyondLimit(ImitableError):
    """A command or a reading is beyond a limit of the arm; a command did not leave."""

    def __init__(self, what: str, value: str, expected: str) -> None:
        super().__init__(f"the arm was stopped: the {what} is {value}, beyond its limit: {expected}")


class ArmContact(ImitableError):
    """The arm touches something, or its next command would make it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the arm was stopped because of contact: {reason}")


class StaleReading(ImitableError):
    """Readings of the arm are too old to act on."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the arm was stopped because its last reading is stale: {reason}")


class LostConnection(ImitableError):
    """The arm cannot be reached, or no longer."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"no connection to the arm at {address}: {reason}; Franka arms stop on their own when commands cease")


class ArmRefuses(ImitableError):
    """The arm's own controller refuses a motion, or has ended one."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the arm stopped by itself: {reason}")


class BadJournal(ImitableError):
    """The journal of commands and readings is missing, damaged or of another kind."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} is not a readable journal of an arm: {reason}")
