"""A temporal kernel of one's own: it is checked where it is used, and read back by its name."""

import json
import re
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest

from gpbandits_env.domains import Box
from gpbandits_env.errors import InvalidInput, UnknownName
from gpbandits_env.gp.kernels import SquaredExponential
from gpbandits_env.gp.posterior import posterior_for
from gpbandits_env.gp.temporal import (
    MarkovTime,
    Matern32Time,
    StaticTime,
    TemporalKernel,
    TemporalSum,
    temporal_from_dict,
)
from gpbandits_env.problem import Problem
from gpbandits_env.rewards.drift import TemporalDrift

KERNEL = SquaredExponential(0.2)


@dataclass(frozen=True)
class Decay(TemporalKernel):
    """T(t, s) = exp(-|t - s| / span)."""

    span: float = 5.0

    def __call__(self, t, s):
        return np.exp(-np.abs(np.subtract.outer(t, s)) / self.span)

    def transition(self, dt):
        return np.array([[np.exp(-dt / self.span)]])

    def covariance(self, t):
        return np.ones((1, 1))

    def row(self, t):
        return np.ones(1)


@pytest.mark.parametrize(
    ("method", "instead", "words"),
    [
        ("__call__", lambda k, t, s: np.full((len(t), len(s)), np.nan), "NaN"),
        ("__call__", lambda k, t, s: np.exp(np.subtract.outer(t, s)), "must be symmetric"),
        ("__call__", lambda k, t, s: 1 - abs(np.subtract.outer(t, s)), "positive semidefinite"),
        ("__call__", lambda k, t, s: np.exp(-abs(t - s)), r"shape \(4, 4\), got \(4,\)"),
        ("__call__", lambda k, t, s: MarkovTime(0.1)(s, t), r"shape \(4, 3\), got \(3, 4\)"),
        ("__call__", lambda k, t, s: None, "an array of numbers"),
        ("__call__", lambda k, t, s: 2 * MarkovTime(0.1)(t, s), "by its states"),
        ("transition", lambda k, dt: np.array([[np.nan]]), "NaN"),
        ("transition", lambda k, dt: np.array([[np.exp(dt / 3.0)]]), "by its states"),
        ("covariance", lambda k, t: 1.0, r"shape \(1, 1\), got \(\)"),
        ("row", lambda k, t: 1.0, r"shape \(1,\), got \(\)"),
    ],
)
def test_a_kernel_of_ones_own_is_checked(monkeypatch, method, instead, words):
    problem_in = partial(replace, Problem(Box(0.0, 1.0), KERNEL, 0.1))
    problem_in(temporal=TemporalSum((Decay(3.0), Lull())))
    monkeypatch.setattr(Decay, method, instead)
    match = f"{method}.*Decay|Decay.*{method}"
    for own in (Decay(3.0), TemporalSum((StaticTime(), Decay(3.0)))):
        for made in (partial(problem_in, temporal=own), partial(TemporalDrift, own)):
            with pytest.raises(InvalidInput, match=words) as error:
                made()
            assert re.search(match, str(error.value))


def test_a_kernel_of_ones_own_for_boxes_needs_no_states(monkeypatch):
    def none(self, dt):
        raise NotImplementedError

    monkeypatch.setattr(Decay, "transition", none)
    problem = Problem(Box(0.0, 1.0), KERNEL, 0.1, temporal=Decay(3.0))
    posterior_for(problem.domain, KERNEL, 0.1, temporal=problem.temporal).advance(0.0)


def test_a_kernel_of_ones_own_may_be_for_rounds_only(monkeypatch):
    """Such as one that alternates, T(t, s) = (-1/2)^|t - s|, which has no real value between."""
    monkeypatch.setattr(Decay, "__call__", lambda k, t, s: (-0.5) ** abs(np.subtract.outer(t, s)))
    monkeypatch.setattr(Decay, "transition", lambda k, dt: np.array([[(-0.5) ** dt]]))
    Problem(Box(0.0, 1.0), KERNEL, 0.1, temporal=Decay(3.0))
    TemporalDrift(Decay(3.0))


class Lull(StaticTime):
    """A class of one's own that is derived from a registered one."""


@pytest.mark.parametrize("own", [Decay(3.0), Lull()])
def test_a_kernel_of_ones_own_is_read_back_as_its_class(own):
    spec = json.loads(json.dumps(TemporalSum((own, Matern32Time(4.0))).to_dict()))
    assert temporal_from_dict(spec).kernels[0] == own
    with pytest.raises(UnknownName, match=type(own).__name__):
        own.with_parameters({"sapn": 2.0})
