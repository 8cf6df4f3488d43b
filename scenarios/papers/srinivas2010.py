"""srinivas2010: Gaussian Process Optimization in the Bandit Setting (ICML 2010), Section 6.

Five agents run on functions drawn from a kernel, on temperature readings and on traffic speeds
(Fig. 5).
"""

from typing import Any

from gpbandits_env.arrays import Plain
from gpbandits_env.scenarios.scenario import AgentEntry, Scenario

DELTA = 0.1
BOUND = {"type": "theorem1", "delta": DELTA}
# The root of the mean prior variance. That of the I-880 is what its noise variance is 5% of.
PRIOR_SD = {"se-1d": 1.0, "temperature": 3.04, "traffic": 11.2, "traffic-i880": 9.78}
# The margins of MPI, as shares of the prior's standard deviation, under other readings.
MARGINS = {"no-margin": 0.0, "margin-3": 0.03, "margin-5": 0.05, "margin-tenth": 0.1}


def _gp_ucb(label: str, scale: float, note: str) -> AgentEntry:
    beta = {"type": "finite", "delta": DELTA, "scale": scale}
    return AgentEntry(label, "gp-ucb", {"beta": beta}, note)


def _mpi(end: str, margin: float, incumbent: str = "posterior-mean") -> AgentEntry:
    found = "best posterior mean" if incumbent == "posterior-mean" else "best reward seen"
    settings = {"incumbent": incumbent, "margin": round(margin, 3)}
    return AgentEntry(f"mpi{end}", "mpi", settings, f"incumbent: {found}, margin {margin:.2g}")


UNSCALED = (_gp_ucb("gp-ucb/unscaled", 1.0, "Theorem 1's beta as it is"),)


def _agents(name: str) -> tuple[AgentEntry, ...]:
    """The five agents of Fig. 5."""
    return (
        _gp_ucb("gp-ucb", 0.2, "Theorem 1's beta divided by 5"),
        AgentEntry("ei", "ei", {"incumbent": "posterior-mean"}, "incumbent: best posterior mean"),
        _mpi("", 0.01 * PRIOR_SD[name]),
        AgentEntry("max-mean", "max-mean"),
        AgentEntry("max-variance", "max-variance"),
    )


def _others(name: str, **margins: float) -> tuple[AgentEntry, ...]:
    """Agents under other readings, with the margins of MPI as shares."""
    sd = PRIOR_SD[name]
    return (
        *UNSCALED,
        AgentEntry("ei/observed", "ei", {"incumbent": "observed"}, "incumbent: best reward seen"),
        _mpi("/observed", 0.01 * sd, "observed"),
        *(_mpi(f"/{end}", share * sd) for end, share in (MARGINS | margins).items()),
        _mpi("/margin-units", 0.01),
    )


CHOICES = (
    "the incumbent of EI and MPI is not stated: the largest posterior mean at a sampled arm",
    "the margin of MPI is not stated: 1% of the prior's standard deviation",
)
OTHER_CHOICES = (  # those of `_others`
    "ei/observed and mpi/observed take the best noisy reward as the incumbent",
    "mpi/no-margin and mpi/margin-... take other shares as the margin, and mpi/margin-units 0.01 "
    "in the units of a reading",
)
REAL_DATA = (
    "each sensor's mean over the training part is the prior mean",
    "no noise is added to a reading; the noise variance of the agents' model is the stated one",
)


def _scenario(
    name: str, end: str, env_kwargs: Plain, trials: int, alternatives: Any = (), **more: Any
) -> Scenario:
    """Declare a panel of Fig. 5; ``end`` is what its title says of another reading."""
    panel = name.partition("@")[0]
    place, title, horizon = PANELS[panel]
    real = () if panel == "se-1d" else REAL_DATA
    others = OTHER_CHOICES if len(alternatives) > 1 else ()
    return Scenario(
        id=f"srinivas2010/{name}",
        source=f"srinivas2010, Section 6, Fig. 5({place}",
        title=title + end,
        env=f"gpbandits/{'Table' if real else 'StaticGP'}-v0",
        env_kwargs=env_kwargs,
        horizon=horizon,
        trials=trials,
        agents=_agents(panel),
        alternatives=alternatives,
        choices=(*CHOICES, *others, *real),
        bounds=(BOUND,),
        **more,
    )


SE: Plain = {"grid": [1000], "kernel": {"type": "se", "lengthscale": 0.2}, "noise_var": 0.025}
INTEL: Plain = {"readings": "intel-berkeley", "model_noise_var": 0.5}
SLOW: Plain = {"minimise": True, "model_noise_var": 4.78}
MORNINGS = {"mornings": True, "working_days": True}
I880: Plain = {"readings": "i880", **SLOW}
METR: Plain = {"readings": "metr-la", "dataset_options": MORNINGS, **SLOW}
METR_DEPARTURES = (
    "METR-LA, one week, 207 sensors, stands in for the 357 sensors and one month of I-880 South, "
    "which are not public; T = 207, the number of sensors, as the paper's 357 was; the noise "
    "variance is the paper's, fitted to other data",
    "the last third of the week's mornings has 100 readings, of two days: 900 draws repeat them, "
    "so the independent units are two",
)
I880_DEPARTURES = (
    "the paper's readings are not public: this uses a month of them that you have, `i880.csv` in "
    "the folder that `GPBANDITS_DATA` names (`gpbandits data`); a public week stands in for it in "
    "srinivas2010/traffic",
)
# The panel of Fig. 5, the title, and the horizon.
PANELS = {
    "se-1d": ("a)", "functions drawn from a squared exponential kernel on [0, 1]", 1000),
    "temperature": ("b)", "the warmest of 46 sensors of the Intel Berkeley lab", 46),
    "traffic": (
        "c), on other data",
        "the slowest of 207 highway sensors of Los Angeles, working mornings",
        207,
    ),
    "traffic-i880": ("c)", "the slowest of 357 sensors on the I-880 South, working mornings", 357),
}
NOISY, OPENED = ", noise variance 0.05", ", first arms spread evenly"
ADDED, COMMON = ", with noise added to a reading", ", one prior mean for all sensors"
MORE, DOUBLE = (f"{count} functions, where the paper has 30" for count in (300, 60))
OPENINGS = tuple((309 + 618 * i) % 1000 for i in range(60))
WARM = _others("temperature", **{"margin-15": 0.15})
ONE_MEAN = {"common_mean": True}

SCENARIOS = (
    _scenario("se-1d", "", SE, 300, _others("se-1d"), departures=(MORE,)),
    _scenario("se-1d@noise", NOISY, SE | {"noise_var": 0.05}, 60, UNSCALED, departures=(DOUBLE,)),
    _scenario("se-1d@opening", OPENED, SE, 60, UNSCALED, departures=(DOUBLE,), openings=OPENINGS),
    _scenario("temperature", "", INTEL, 2000, WARM),
    _scenario("temperature@noise", ADDED, INTEL | {"noise_var": 0.5}, 2000),
    _scenario("temperature@common-mean", COMMON, INTEL | ONE_MEAN, 2000),
    _scenario("traffic", "", METR, 900, _others("traffic"), departures=METR_DEPARTURES),
    _scenario("traffic@common-mean", COMMON, METR | ONE_MEAN, 900, departures=METR_DEPARTURES),
    _scenario("traffic-i880", "", I880, 900, _others("traffic-i880"), departures=I880_DEPARTURES),
)
