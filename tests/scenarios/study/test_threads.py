"""Trials in several threads of one process give what they give alone."""

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from gpbandits_env.gp.threads import one_blas_thread
from gpbandits_env.scenarios.registry import get
from gpbandits_env.scenarios.results.store import Store
from gpbandits_env.scenarios.scenario import AgentEntry
from gpbandits_env.scenarios.study import run_study, run_trial

SCENARIO = get("srinivas2010/se-1d").select(["gp-ucb", "ei"], horizon=60)
TRIALS = [(label, trial) for label in ("gp-ucb", "ei") for trial in range(4)]


pytestmark = pytest.mark.usefixtures("short_turns")


def regret(which):
    return run_trial(SCENARIO, *which).rounds["regret"]


def same(one, other):
    return [np.array_equal(a, b) for a, b in zip(one, other, strict=True)] == [True] * len(one)


def test_trials_in_four_threads():
    alone = [regret(which) for which in TRIALS]
    with ThreadPoolExecutor(4) as pool:
        assert same(list(pool.map(regret, TRIALS)), alone)


def test_trials_by_asyncio():
    async def at_once():
        return await asyncio.gather(*(asyncio.to_thread(regret, which) for which in TRIALS))

    alone = [regret(which) for which in TRIALS]
    assert same(asyncio.run(at_once()), alone)


def test_two_studies_in_two_threads(tmp_path):
    small = SCENARIO.select(trials=3)

    def digest(name):
        path = tmp_path / f"{name}.sqlite"
        assert run_study(small, path, jobs=1, progress=False).done == 6
        with Store.open(path) as store:
            return store.digest()

    alone = digest("alone")
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(digest, ("one", "other"))) == [alone, alone]


NESTING = """
from gpbandits_env.agents import Agent
from gpbandits_env.scenarios.study import run_trial
import test_nesting_scenario

class Nesting(Agent):
    def ask(self):
        if self.round == 3:
            run_trial(test_nesting_scenario.inner, "random", 1)
        return self.problem.domain.sample(self.rng, self.batch_size)
"""


def test_a_trial_within_a_trial(tmp_path, monkeypatch):
    """Of the same environment, by an agent that tries something beforehand."""
    (tmp_path / "nesting_agent.py").write_text(NESTING, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    inner = replace(SCENARIO, agents=(AgentEntry("random", "random"),))
    module = type(sys)("test_nesting_scenario")
    module.inner = inner
    monkeypatch.setitem(sys.modules, "test_nesting_scenario", module)
    outer = replace(inner, agents=(AgentEntry("random", "nesting_agent:Nesting"),))
    plain = run_trial(inner, "random", 0).rounds
    nested = run_trial(outer, "random", 0).rounds
    assert np.array_equal(nested["optimum"], plain["optimum"])
    assert np.array_equal(nested["regret"], plain["regret"])


def blas_threads():
    return {i["filepath"]: i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"}


def test_one_blas_thread_until_the_last_holder_leaves():
    first_in, first_may_leave = threading.Event(), threading.Event()

    def first():
        with one_blas_thread():
            first_in.set()
            first_may_leave.wait(20)

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        thread = threading.Thread(target=first)
        thread.start()
        assert first_in.wait(20)
        with one_blas_thread():
            first_may_leave.set()
            thread.join(20)
            assert set(blas_threads().values()) == {1}
        assert blas_threads() == before
