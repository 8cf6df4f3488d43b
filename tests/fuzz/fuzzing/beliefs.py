"""Bad calls of posteriors, and posteriors made with bad arguments."""

import pickle
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from fuzzing.case import Case
from fuzzing.declared import spoilt
from fuzzing.values import pick

from gpbandits_env.domains import Arms, Box
from gpbandits_env.gp.kernels import Matern52, SquaredExponential
from gpbandits_env.gp.posterior import BoxPosterior, NystromPosterior, posterior_for

ARMS = Arms.grid((4, 3))
BOX = Box([0.0, 0.0], [1.0, 2.0])
KERNEL = SquaredExponential(0.5)
MAKERS: dict[str, tuple[Callable[..., Any], Mapping[str, Any]]] = {
    "posterior in rows": (
        posterior_for,
        {
            "domain": ARMS,
            "kernel": KERNEL,
            "noise_var": 0.1,
            "prior_mean": np.zeros(12),
            "kind": "rows",
            "horizon": 9,
        },
    ),
    "posterior with a dictionary": (
        posterior_for,
        {
            "domain": ARMS,
            "kernel": KERNEL,
            "noise_var": 0.1,
            "prior_mean": 0.0,
            "kind": "nystrom",
            "dictionary": {"qbar": 2.0},
            "rng": np.random.default_rng(0),
        },
    ),
    "BoxPosterior": (
        BoxPosterior,
        {"box": BOX, "kernel": Matern52(0.5), "noise_var": 0.1, "prior_mean": 0.0},
    ),
    "NystromPosterior": (
        NystromPosterior,
        {
            "arms": ARMS,
            "kernel": KERNEL,
            "noise_var": 0.1,
            "prior_mean": 0.0,
            "qbar": 2.0,
            "rng": np.random.default_rng(0),
        },
    ),
}


def make_case(rng: np.random.Generator) -> Case:
    """A posterior made with a bad argument."""
    name = str(pick(rng, list(MAKERS)))
    maker, good = MAKERS[name]
    given = spoilt(rng, good)

    def use(posterior: Any) -> None:
        where = getattr(posterior, "box", None) or posterior.arms
        posterior.condition(where.sample(np.random.default_rng(0), 3), np.array([0.0, 1.0, 2.0]))

    return Case(name, given, lambda: maker(**given), use=use)


@cache
def _learned(name: str) -> tuple[Any, dict[str, Any]]:
    posterior: Any
    if name == "box":
        posterior = BoxPosterior(BOX, Matern52(0.5), 0.1, 0.3)
    elif name == "nystrom":
        posterior = NystromPosterior(ARMS, KERNEL, 0.1, qbar=2.0, rng=np.random.default_rng(0))
    else:
        posterior = posterior_for(ARMS, KERNEL, 0.1, 0.3, kind=name)
    where = BOX if name == "box" else ARMS
    posterior.condition(where.sample(np.random.default_rng(0), 4), np.arange(4.0))
    if name != "nystrom":
        posterior.hallucinate(where.sample(np.random.default_rng(1), 2))
    return posterior, pickle.dumps(posterior)


def _said(posterior: Any) -> list[Any]:
    """What a posterior says of some points and of itself."""
    where = posterior.domain.sample(np.random.default_rng(2), 9)
    numbers = posterior.size, posterior.jitter, posterior.information_gain
    return [*posterior.moments(where), posterior.covariance(where), posterior.observed, *numbers]


def call_case(rng: np.random.Generator) -> Case:
    """A bad call of a posterior that has learned something."""
    name = str(pick(rng, ("rows", "coefficients", "box", "nystrom")))
    posterior, before = _learned(name)
    where = BOX if name == "box" else ARMS
    places = where.sample(rng, 2)
    goods: dict[str, dict[str, Any]] = {
        "condition": {"points": places, "rewards": rng.normal(size=2)},
        "hallucinate": {"points": places},
        "covariance": {"points": places},
        "advance": {"epsilon": 0.1, "dt": 1.0},
        "sample": {"rng": np.random.default_rng(0), "size": 2},
    }
    if name == "box":
        goods |= {
            "sample": {"rng": np.random.default_rng(0), "size": 2, "x": places},
            "moments": {"points": places},
            "gradients": {"points": places},
            "mean_at": {"points": places},
        }
    what = str(pick(rng, list(goods)))
    given = spoilt(rng, goods[what])
    given |= {"rng": np.random.default_rng(0)} if what == "sample" else {}

    def use(_: Any) -> None:
        try:
            posterior.condition(places, np.zeros(2))
        finally:
            vars(posterior).clear()
            vars(posterior).update(vars(pickle.loads(before)))

    return Case(
        f"{what} of the posterior {name}",
        given,
        lambda: getattr(posterior, what)(**given),
        lambda: _said(posterior),
        lambda: use(None),
        use,
    )
