"""Errors say what was wrong and what to do, and fit Python's own families."""

import pickle

import pytest
from gymnasium.error import ResetNeeded

from gpbandits_env import errors


def test_unknown_suggests_near_names_and_lists_all():
    error = errors.unknown("agent", "gpucb", ["gp-ucb", "ei", "random"])
    assert isinstance(error, errors.UnknownName)
    assert str(error) == (
        "no agent named 'gpucb'; did you mean 'gp-ucb'? (known: ei, gp-ucb, random)"
    )


def test_unknown_without_a_near_name_gives_the_hint():
    error = errors.unknown("agent", "zzz", ["ei"], "'gpbandits agents' lists them")
    assert str(error) == "no agent named 'zzz' ('gpbandits agents' lists them)"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("n_startup_trials", "n_initial"), ("direction", "maximize"), ("catch", "on_error"),
     ("storage", "file"), ("kappa", "beta"), ("xi", "margin")],
)  # fmt: skip
def test_names_of_other_libraries_are_translated(theirs, ours):
    known = ["n_initial", "maximize", "on_error", "file", "beta", "margin", "horizon"]
    assert f"; did you mean {ours!r}?" in str(errors.unknown("argument", theirs, known))


@pytest.mark.parametrize("known", ["horizon", "max_episode_steps"])
def test_a_name_may_be_translated_differently_in_different_places(known):
    for theirs in ("rounds", "n_steps"):
        error = errors.unknown("key", theirs, [known, "bounds", "sweep"])
        assert f"; did you mean {known!r}?" in str(error)
    assert "did you mean 'trials'?" in str(errors.unknown("key", "seeds", ["sweep", "trials"]))


@pytest.mark.parametrize("name", [None, 3, ["ei"]])
def test_unknown_takes_any_object(name):
    assert repr(name) in str(errors.unknown("agent", name, ["ei"]))


def test_a_missing_extra_names_what_to_install():
    assert "pip install 'gpbandits-env[parquet]'" in str(errors.require_extra("pyarrow", "parquet"))


@pytest.mark.parametrize(
    ("cls", "family"),
    [
        (errors.InvalidInput, ValueError),
        (errors.UnknownName, ValueError),
        (errors.UnknownArgument, errors.UnknownName),
        (errors.UnknownArgument, TypeError),
        (errors.NotPositiveDefinite, ValueError),
        (errors.MissingData, FileNotFoundError),
        (errors.MissingExtra, ImportError),
        (errors.StoreError, OSError),
        (errors.NotReset, ResetNeeded),
    ],
)
def test_families(cls, family):
    assert issubclass(cls, errors.GPBanditsError)
    assert issubclass(cls, family)
    assert str(cls("what to do")) == "what to do"
    assert type(pickle.loads(pickle.dumps(cls("what to do")))) is cls
