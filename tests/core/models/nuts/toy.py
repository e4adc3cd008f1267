"""Small densities with one property each; the child process finds them by their names."""

import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass
class Toy:
    """Independent normals of given means and standard deviations, with a way of going wrong."""

    mean: np.ndarray
    sd: np.ndarray
    fault: str = "none"
    note: str = ""
    name: str = field(default="tests.core.models.nuts.toy:Toy", init=False)

    def __post_init__(self):
        self.ndim = self.mean.size
        self.evaluations = 0

    def job(self):
        return {"fault": self.fault, "note": self.note}, {"mean": self.mean, "sd": self.sd}

    @classmethod
    def from_job(cls, settings, arrays):
        return cls(arrays["mean"], arrays["sd"], settings["fault"], settings["note"])

    def starts(self, n_chains, seed):
        return np.zeros((n_chains, self.ndim))

    def value_and_gradient(self, theta):
        self.evaluations += 1
        z = (theta - self.mean) / self.sd
        value, gradient = -0.5 * float(z @ z), -z / self.sd
        return FAULTS[self.fault](self, theta, value, gradient)


def normal(count, n=3):
    """A list of toys with their own means and spreads."""
    rng = np.random.default_rng(5)
    return [Toy(rng.normal(size=n) * 3, rng.uniform(0.5, 2.0, n)) for _ in range(count)]


def _none(toy, theta, value, gradient):
    return value, gradient


def _overflows(toy, theta, value, gradient):
    return -np.inf, np.zeros_like(gradient)


def _bounded(toy, theta, value, gradient):
    """Overflows outside a ball, as a density cut at its edge does."""
    return (value, gradient) if np.abs(theta).max() < 3 else (-np.inf, np.zeros_like(gradient))


def _raises_later(toy, theta, value, gradient):
    if toy.evaluations > 200:
        raise ZeroDivisionError("float division by zero")
    return value, gradient


def _slow(toy, theta, value, gradient):
    time.sleep(0.02)
    return value, gradient


def _killed(toy, theta, value, gradient):
    if toy.evaluations > 200:
        os.kill(os.getpid(), signal.SIGKILL)
    return value, gradient


def _chatters(toy, theta, value, gradient):
    if toy.evaluations % 50 == 0:
        print("a library has something to say", flush=True)
        os.write(1, b"and so has its C code\n")
    return value, gradient


def _notes_modules(toy, theta, value, gradient):
    Path(toy.note).write_text("\n".join([str(os.getpid()), *sys.modules]))
    return value, gradient


FAULTS = {
    "none": _none,
    "overflows": _overflows,
    "bounded": _bounded,
    "raises later": _raises_later,
    "slow": _slow,
    "killed": _killed,
    "chatters": _chatters,
    "notes modules": _notes_modules,
}
