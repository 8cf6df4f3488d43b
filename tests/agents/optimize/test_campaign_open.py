"""A campaign that is continued from its file with its space and settings."""

import numpy as np
import pytest

from gpbandits_env.agents.optimize import Campaign, Choice
from gpbandits_env.errors import InvalidInput, UnknownName


def test_open_starts_and_continues_a_campaign(tmp_path):
    file, space = tmp_path / "c.json", {"x": (0.0, 1.0)}
    first = Campaign.open(file, space, "ts", noise=0.1)
    first.tell(first.ask()[0].id, 1.0)
    again = Campaign.open(file, space, "ts", noise=0.1)
    assert again.records == first.records
    first.save(tmp_path / "copy.json")
    copy = Campaign.resume(tmp_path / "copy.json")
    assert again.ask() == copy.ask()
    for changed in ({"noise": 0.2}, {"seed": 5}, {"maximize": False}, {"margin": 0.1}):
        with pytest.raises((InvalidInput, UnknownName)):
            Campaign.open(file, space, "ts", **{"noise": 0.1, **changed})
    with pytest.raises(InvalidInput, match="its agent is 'ts', not 'ei'"):
        Campaign.open(file, space, "ei", noise=0.1)
    with pytest.raises(InvalidInput, match="another file, and the old values by observe_all"):
        Campaign.open(file, {"x": (0.0, 2.0)}, "ts", noise=0.1)
    with pytest.raises(InvalidInput, match=r"^trusted must be true or false, got 'yes'"):
        Campaign.resume(file, trusted="yes")


def test_open_refuses_names_in_another_order(tmp_path):
    """The points of the file are in the order of its dimensions."""
    file, x, y = tmp_path / "c.json", {"x": (0.0, 1.0)}, {"y": (0.0, 10.0)}
    first = Campaign.open(file, x | y, constraints={"a": 1.0, "b": 2.0})
    first.tell(first.ask()[0].id, 1.0, constraints=[0.0, 0.0])
    with pytest.raises(InvalidInput, match="give its space in the order x, y"):
        Campaign.open(file, y | x, constraints={"a": 1.0, "b": 2.0})
    with pytest.raises(InvalidInput, match="give its constraints in the order a, b"):
        Campaign.open(file, x | y, constraints={"b": 2.0, "a": 1.0})
    assert Campaign.open(file, x | y, constraints={"a": 1.0, "b": 2.0}).records == first.records


def test_open_continues_a_campaign_with_an_array_in_its_settings(tmp_path):
    def opened(*lengthscale):
        kernel = {"type": "matern52", "lengthscale": np.array(lengthscale)}
        return Campaign.open(tmp_path / "c.json", [(0.0, 1.0)] * 2, kernel=kernel)

    first = opened(0.3, 0.2)
    first.tell(first.ask()[0].id, 1.0)
    assert opened(0.3, 0.2).records == first.records
    with pytest.raises(InvalidInput, match="its settings is"):
        opened(0.3, 0.1)


def test_open_continues_a_campaign_with_options_of_numpy(tmp_path):
    space = {"n": Choice(np.arange(3)), "kind": Choice(np.array(["u", "v"])), "x": (0.0, 1.0)}
    first = Campaign.open(tmp_path / "c.json", space)
    first.tell(first.ask()[0].id, 1.0)
    assert Campaign.open(tmp_path / "c.json", space).records == first.records


def test_open_has_the_options_as_they_were_given(tmp_path):
    space = {"net": Choice(((np.int64(1), 2), (3, 4)))}
    first = Campaign.open(tmp_path / "c.json", space)
    for suggestion in first.ask(2):
        first.tell(suggestion.id, 1.0)
    again = Campaign.open(tmp_path / "c.json", space)
    assert repr(again.records) == repr(first.records)
    assert again.exhausted == first.exhausted


@pytest.mark.parametrize(
    "options",
    [
        ([64], [64, 64]),
        ((1,), (2,)),
        ({"type": "adam"}, {"type": "sgd"}),
        ({"l": (1,)}, {"l": [1]}),
    ],
)
def test_options_of_several_parts_are_resumed_as_they_are(options, tmp_path):
    space = {"net": Choice(options), "x": (0.0, 1.0)}
    first = Campaign.open(tmp_path / "c.json", space, seed=0)
    for _ in range(4):
        first.tell(first.ask()[0].id, 1.0)
    assert Campaign.resume(tmp_path / "c.json").space.dimensions == first.space.dimensions
    assert Campaign.open(tmp_path / "c.json", space).records == first.records
