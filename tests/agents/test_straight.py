"""How far one `ask` and one `tell` go through the files of the project.

A hop is a call from a file of the project into another one. The figures are upper bounds on what
was reached: to read one round, one opens so many files. One BLAS thread, which is the usual
setting; the second call counts, after what is imported or computed once.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import gpbandits_env
from gpbandits_env import agents
from gpbandits_env.domains import Arms, Box
from gpbandits_env.gp import threads
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.problem import Problem

ROOTS = tuple(str(Path(package.__file__).resolve().parent) for package in (gpbandits_env, agents))


@pytest.fixture(autouse=True)
def one_blas_thread(monkeypatch):
    with threadpool_limits(1):
        monkeypatch.setattr(threads, "changed", False)
        yield


class Travelled:
    """Counts hops and files while it is entered."""

    def __enter__(self):
        self.hops, self.files = [], set()
        sys.setprofile(self._called)
        return self

    def __exit__(self, *error):
        sys.setprofile(None)

    def _called(self, frame, event, _):
        into = frame.f_code.co_filename
        if event != "call" or not into.startswith(ROOTS):
            return
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(ROOTS):
            caller = caller.f_back
        self.files.add(into)
        if caller is not None and caller.f_code.co_filename != into:
            self.hops.append((Path(caller.f_code.co_filename).name, frame.f_code.co_qualname))


def second_round(name, domain, **settings):
    """What the second `ask` and the second `tell` of an agent travel."""
    problem = Problem(domain, SquaredExponential(0.2), 0.025, horizon=1000)
    agent = agents.make(name, problem, seed=0, **settings)
    agent.tell(agent.ask(), np.array([0.1]))
    with Travelled() as asked:
        actions = agent.ask()
    with Travelled() as told:
        agent.tell(actions, np.array([0.2]))
    return asked, told


@pytest.mark.parametrize(
    ("name", "settings", "ask", "tell"),
    [
        ("gp-ucb", {}, (6, 5), (7, 7)),
        ("gp-ucb", {"posterior": "rows"}, (6, 5), (11, 10)),  # a strip of the prior covariance, too
        ("tv-gp-ucb", {"epsilon": 0.01}, (6, 5), (9, 8)),
    ],
)
def test_a_round_on_arms_is_straight(name, settings, ask, tell):
    asked, told = second_round(name, Arms.grid(1000), **settings)
    assert len(asked.hops) <= ask[0], asked.hops
    assert len(asked.files) <= ask[1], asked.files
    assert len(told.hops) <= tell[0], told.hops
    assert len(told.files) <= tell[1], told.files


def test_a_round_of_ei_in_a_box_enters_few_files():
    asked, told = second_round("ei", Box([0.0, 0.0], [1.0, 1.0]))
    assert len(asked.files) <= 13, sorted(asked.files)
    assert len(asked.files | told.files) <= 17, sorted(asked.files | told.files)
