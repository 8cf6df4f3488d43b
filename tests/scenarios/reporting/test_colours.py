"""One colour per agent: stable, distinct where agents meet, told apart by colour-blind readers."""

import itertools

import numpy as np
import pytest

from gpbandits_env.scenarios import registry
from gpbandits_env.scenarios.reporting.style import COLOURS, OF_AGENT, line_styles

SCENARIOS = {s.id: s for s in registry.scenarios().values()}
# How colours look to readers without red, green or blue cones: Machado, Oliveira and Fernandes
# (2009), Table 1, severity 1.0, on linear RGB.
EYES = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array([
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]) / [[0.95047], [1.0], [1.08883]]  # fmt: skip


def lab(colour, eye):
    """CIE L*a*b*, in which distances are about as large as they look."""
    srgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.array(EYES[eye]) @ linear, 0.0, 1.0)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eye", EYES)
def test_every_eye_can_tell_all_colours_apart(eye):
    for a, b in itertools.combinations(COLOURS, 2):
        assert np.linalg.norm(lab(a, eye) - lab(b, eye)) > 15, (a, b)


@pytest.mark.parametrize("id", SCENARIOS)
def test_agents_that_meet_have_colours_of_their_own(id):
    names = {e.agent for e in SCENARIOS[id].agents}
    alone = line_styles({name: name for name in names})
    assert len({style["color"] for style in alone.values()}) == len(names)
    # An alternative, which is drawn on request, may share a colour; its dash is another one.
    entries = (*SCENARIOS[id].agents, *SCENARIOS[id].alternatives)
    styles = line_styles({e.label: e.agent for e in entries})
    assert len({(s["color"], s["linestyle"]) for s in styles.values()}) == len(entries)


def test_an_agent_has_the_same_colour_in_every_plot():
    alone = line_styles({"gp-ucb": "gp-ucb"})["gp-ucb"]
    among = line_styles({"mine": "my_module:Mine", "ei": "ei", "gp-ucb": "gp-ucb"})["gp-ucb"]
    assert alone == among == {"color": OF_AGENT["gp-ucb"], "linestyle": "-"}


def test_variants_share_the_colour_and_differ_in_dash_then_shade():
    two = line_styles({"gp-ucb": "gp-ucb", "gp-ucb/wide": "gp-ucb"})
    assert {s["color"] for s in two.values()} == {OF_AGENT["gp-ucb"]}
    assert len({s["linestyle"] for s in two.values()}) == 2
    many = line_styles({f"r/{n}": "r-gp-ucb" for n in range(12)})
    assert len({(s["color"], s["linestyle"]) for s in many.values()}) == 12


def test_an_own_agent_keeps_its_colour_unless_a_built_in_agent_has_it():
    mine = {"mine": "one.module:Mine"}
    colour = line_styles(mine)["mine"]["color"]
    assert line_styles({"gp-ucb": "gp-ucb", **mine})["mine"]["color"] == colour
    assert line_styles({"x": "another:Mine"})["x"]["color"] == colour
    rival = next(k for k, c in OF_AGENT.items() if c == colour)
    both = line_styles({**mine, rival: rival})
    assert both[rival]["color"] == colour != both["mine"]["color"]


def test_more_agents_than_colours_still_differ():
    styles = line_styles({f"a{i}": f"m:A{i}" for i in range(30)})
    assert len({(s["color"], s["linestyle"]) for s in styles.values()}) == 30
