"""Which agents run campaigns where."""

import math
from copy import deepcopy

import numpy as np
import pytest

from gpbandits_env.agents.acquisitions import LogEI
from gpbandits_env.agents.optimize import Campaign, Choice, Integer, Real, minimize, usual_agent
from gpbandits_env.agents.optimize.space import Space
from gpbandits_env.agents.optimize.usual_agent import agent_for
from gpbandits_env.agents.registry import AGENTS
from gpbandits_env.errors import InvalidInput
from gpbandits_env.gp.kernels import Matern52, OnCoordinates

MIXED = {
    "two": {"x": (0.0, 1.0), "n": Integer(1, 9000)},
    "as wide as the small box": {"x": (0.0, 1.0), **{f"n{i}": Integer(1, 9000) for i in range(4)}},
    "eight": {"x": (0.0, 1.0), **{f"n{i}": Integer(1, 9) for i in range(7)}},
}


@pytest.mark.parametrize("space", MIXED.values(), ids=MIXED.keys())
@pytest.mark.parametrize(
    ("agent", "settings"),
    [("rembo", {}), ("rembo", {"kernel_on": "x"}), ("hesbo", {}), ("sre", {"rounds": 20}),
     ("line-bo", {})],
)  # fmt: skip
def test_agents_of_embeddings_play_whole_numbers(agent, settings, space):
    search = {"starts": 2, "candidates": 256, "evaluations": 40}
    campaign = Campaign(space, agent, seed=0, n_initial=2, learn=False, search=search, **settings)
    seen = []
    for _ in range(8):
        (suggestion,) = campaign.ask()
        seen.append(tuple(suggestion.params.values()))
        assert all(type(v) is int for name, v in suggestion.params.items() if name != "x")
        assert campaign.space.check(suggestion.params) == suggestion.params
        campaign.tell(suggestion.id, -((suggestion.params["x"] - 0.3) ** 2))
    assert len(set(seen)) >= 5
    assert campaign.agent.posterior.size == 8


@pytest.mark.parametrize("space", [{"x": (0, 1), "y": (-2, 5), "z": (0, 1)}, MIXED["eight"]])
@pytest.mark.parametrize(
    ("agent", "settings"), [("rembo", {"d": 2}), ("hesbo", {"d": 2}), ("sre", {"rounds": 2})]
)
def test_what_an_embedding_asked_for_is_known_after_resuming(agent, settings, space, tmp_path):
    """It is told at the points of its small box, of several in any order, resumed or not."""
    runs = []
    for resumed in (False, True):
        file = tmp_path / f"{resumed}.json"
        search = {"starts": 2, "candidates": 64, "evaluations": 40}
        campaign = Campaign(
            space, agent, seed=0, n_initial=2, learn=False, search=search, file=file, **settings
        )
        for _ in range(4):
            one, other = campaign.ask(2)
            if resumed:
                campaign = Campaign.resume(file)
            for suggestion in (other, one):
                campaign.tell(suggestion.id, -((suggestion.params["x"] - 0.3) ** 2))
        runs.append([record.params for record in campaign.records])
    assert runs[0] == runs[1]
    assert campaign.recommended in runs[0]


def test_an_embedding_is_told_where_it_asked():
    campaign = Campaign(MIXED["eight"], "rembo", seed=0, n_initial=0, learn=False)
    for _ in range(3):
        (suggestion,) = campaign.ask()
        campaign.tell(suggestion.id, -((suggestion.params["x"] - 0.3) ** 2))
    for y, record in zip(campaign.agent.posterior.observed, campaign.records, strict=True):
        lifted = campaign.agent.action_map.actions(y[None])[0]
        assert campaign.space.params(lifted) == record.params


def test_the_small_box_of_an_embedding_is_searched_whole():
    """As many coordinates as the space has, which are no coordinates of the space."""
    campaign = Campaign(MIXED["as wide as the small box"], "hesbo", seed=0, n_initial=0)
    y = campaign.agent.search.candidates_of(campaign.agent.posterior)[0]
    assert len(set(y[:, 1])) == len(y)
    assert y.min() < -0.5


@pytest.mark.parametrize(
    ("agent", "settings"),
    [("bkb-ucb", {}), ("bkb-ei", {}), ("bkb-mpi", {}), ("ei", {"candidates": 64}),
     ("gp-ucb", {"posterior": {"type": "nystrom", "qbar": 5.0}})],
)  # fmt: skip
def test_agents_that_learn_only_at_candidates_are_refused_before_anything_is_paid_for(
    agent, settings
):
    for space in ([(0.0, 1.0)], MIXED["two"]):
        with pytest.raises(InvalidInput, match=r"own candidates.*Nystrom"):
            Campaign(space, agent, seed=0, **settings)
    campaign = Campaign({"n": Integer(1, 50)}, agent, seed=0, n_initial=2, **settings)
    for _ in range(4):
        (suggestion,) = campaign.ask()
        campaign.tell(suggestion.id, float(suggestion.params["n"]))
    assert campaign.best.value >= 1.0


def test_names_do_not_decide_whether_a_model_is_learned(monkeypatch):
    """Their classes do: whether they assume a function that drifts."""
    monkeypatch.setitem(AGENTS, "my-tv-thing", "algorithms.gp_ucb:GPUCB")
    monkeypatch.setitem(AGENTS, "my-thing", "algorithms.tv_gp_ucb:TVGPUCB")
    learned = {}
    often = {"learn": {"what": ["epsilon"], "every": 2}}
    for agent, settings in {"my-tv-thing": {}, "my-thing": often}.items():
        campaign = Campaign({"x": (0.0, 1.0)}, agent, seed=0, n_initial=2, **settings)
        for _ in range(6):
            (suggestion,) = campaign.ask()
            campaign.tell(suggestion.id, -((suggestion.params["x"] - 0.3) ** 2))
        learned[agent] = campaign.agent.learned
    assert len(learned["my-tv-thing"]) == 1
    assert not any("epsilon" in found for found in learned["my-tv-thing"])
    assert learned["my-thing"]
    assert all("epsilon" in found for found in learned["my-thing"])


def test_where_data_fade_the_model_and_epsilon_are_learned():
    """From the epsilon that is given, also at clock times; ``learn=False`` keeps it."""
    space = {"x": (0.0, 1.0)}
    for agent, settings in (("tv-gp-ucb", {}), ("ei", {"epsilon": 0.3})):
        campaign = Campaign(space, agent, maximize=False, seed=0, n_initial=2, **settings)
        assert campaign.agent.conditioned.model.epsilon == settings.get("epsilon", 0.01)
        for _ in range(30):
            (suggestion,) = campaign.ask()
            campaign.tell(suggestion.id, (suggestion.params["x"] - 0.3) ** 2)
        last = campaign.agent.learned[-1]
        assert last["epsilon"] < 0.005  # nothing moves
        assert last["epsilon"] == campaign.agent.conditioned.model.epsilon
        assert last["lengthscale"] != 0.3
    fixed = Campaign(space, "ei", seed=0, n_initial=2, epsilon=0.3, learn=False)
    assert fixed.agent.conditioned.model.epsilon == 0.3
    recent = Campaign(space, "ei", seed=0, window=7).agent.refit.learning
    assert (recent.last, recent.drifts) == (7, False)


def test_the_usual_model_of_an_agent_that_drops_data_itself_has_no_epsilon():
    campaign = Campaign({"x": (0.0, 1.0)}, "w-dbo", maximize=False, seed=0)
    for _ in range(8):
        (suggestion,) = campaign.ask()
        campaign.tell(suggestion.id, (suggestion.params["x"] - 0.3) ** 2)
    assert {"lengthscale", "variance", "noise_var"} <= campaign.agent.learned[-1].keys()
    assert "epsilon" not in campaign.agent.learned[-1]


def test_epsilon_is_learned_from_clock_times():
    """As from rounds, if the times are those of rounds; and per unit of the time that is given."""
    rng, values = np.random.default_rng(0), []
    f = rng.standard_normal(6)
    for _ in range(40):
        f = np.sqrt(0.9) * f + np.sqrt(0.1) * rng.standard_normal(6)
        values.append(f.tolist())
    found = {}
    for unit in (None, 1.0, 0.25):
        campaign = Campaign({"x": (0.0, 1.0)}, "tv-gp-ucb", seed=0, n_initial=0, noise_var=1e-4)
        for t, now in enumerate(values):
            at = t % 6
            (suggestion,) = [campaign.expect({"x": at / 5.0})]
            time = None if unit is None else unit * t
            campaign.tell(suggestion.id, now[at], time=time)
        agent = campaign.agent
        assert np.diff(agent.data.times) == pytest.approx([unit or 1.0] * 39)
        found[unit] = agent.conditioned.model.epsilon
    assert found[1.0] == pytest.approx(found[None], rel=0.2)
    assert 1.0 - (1.0 - found[0.25]) ** 0.25 == pytest.approx(found[1.0], rel=0.2)
    assert 0.02 < found[1.0] < 0.5


def test_bounds_of_a_learned_model_are_narrower_than_a_theorems():
    """Where the agent's own beta is that of a theorem; one that is given is kept."""
    space = {"x": (0.0, 1.0)}
    for name in ("gp-ucb", "bucb", "ucbpe", "cub"):
        assert Campaign(space, name, seed=0).agent.rule.schedule(7) == 2.0
    assert Campaign(space, "gp-ucb", seed=0, beta=9.0).agent.rule.schedule(7) == 9.0
    log_time = Campaign(space, "tv-gp-ucb", seed=0, epsilon=0.1).agent.rule.schedule(7)
    assert log_time == pytest.approx(0.8 * math.log(28.0))


def test_samples_are_closer_to_the_mean():
    for name in ("ts", "ts-rsr"):
        for dim, scale in ((1, 0.5), (5, 0.5), (20, 0.5), (80, 0.25)):
            space = [(0.0, 1.0)] * dim
            assert Campaign(space, name, seed=0).agent.search.scale == scale
            assert Campaign(space, name, seed=0, scale=0.7).agent.search.scale == 0.7


def test_among_choices_agents_explore_more():
    space = {"kind": Choice(("a", "b", "c")), **{f"x{i}": (0.0, 1.0) for i in range(19)}}
    assert Campaign(space, "gp-ucb", seed=0).agent.rule.schedule(7) == 6.0
    assert Campaign(space, "gp-ucb", seed=0, beta=9.0).agent.rule.schedule(7) == 9.0
    assert Campaign(space, "ts", seed=0).agent.search.scale == 1.0
    assert Campaign(space, "ts", seed=0, scale=0.3).agent.search.scale == 0.3


def test_the_columns_of_a_choice_share_a_lengthscale():
    space = {"x": (0.0, 1.0), "kind": Choice(("a", "b", "c")), "n": Integer(1, 9000)}
    campaign = Campaign(space, seed=0, n_initial=0)
    rng = np.random.default_rng(0)
    params = [campaign.space.decode(rng.random(5)) for _ in range(30)]
    campaign.observe_all(params, [p["x"] ** 2 + 3.0 * (p["kind"] == "b") for p in params])
    x, *kinds, n = campaign.agent.refit.model.kernel.lengthscale
    assert len(set(kinds)) == 1
    assert len({x, kinds[0], n}) == 3


def test_an_embedding_learns_one_lengthscale_of_each_own_coordinate():
    campaign = Campaign(
        {"x": (0.0, 1.0), "kind": Choice(("a", "b", "c")), "n": Integer(1, 9000)}, "rembo", seed=0,
        d=2, n_initial=6,
    )  # fmt: skip
    for _ in range(6):
        (suggestion,) = campaign.ask()
        campaign.tell(suggestion.id, suggestion.params["x"])
    assert len(set(campaign.agent.refit.model.kernel.lengthscale)) == 2


def test_an_agent_whose_model_has_fewer_coordinates_runs_among_choices():
    """The options of a choice share no lengthscale there, because its coordinates change."""
    space = {"x": (0.0, 1.0), "kind": Choice(("a", "b", "c")), "n": Integer(1, 9000)}
    campaign = Campaign(space, "dropout-ucb", seed=0, d=2, n_initial=3)
    for _ in range(6):
        (suggestion,) = campaign.ask()
        campaign.tell(suggestion.id, suggestion.params["x"])
    assert len(campaign.agent.learned[-1]["lengthscale"]) == 2


def test_a_campaign_makes_its_agent_once(monkeypatch):
    made = []
    real = usual_agent.make
    monkeypatch.setattr(usual_agent, "make", lambda *a, **k: made.append(a) or real(*a, **k))
    Campaign({"x": (0.0, 1.0), "kind": Choice(("a", "b", "c"))}, seed=0)
    assert len(made) == 1


def test_a_kernel_acts_on_the_unit_cube():
    """The same calls in other units, linear or logarithmic, give the same values."""
    spaces = ({"x": (0.0, 1.0)}, {"x": (-400.0, 600.0)}, {"x": Real(1e-3, 1e2, log=True)})
    found = []
    for dimensions in spaces:
        space = Space(dimensions)

        def value(params, space=space):
            return float(np.sin(9.0 * space.encode(params)[0]))

        result = minimize(value, space, n_calls=9, seed=0, kernel=Matern52(0.3))
        found.append(result.func_vals)
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)
    np.testing.assert_allclose(found[2], found[0], atol=1e-6)


ON_ONE = OnCoordinates((1,), Matern52((300.0,)))


@pytest.mark.parametrize(
    "kernel", [Matern52(300.0), Matern52((300.0, 20.0)), Matern52(3e-4), ON_ONE]
)
def test_a_fixed_kernel_in_other_units_is_warned_of(kernel):
    space = Space([(0.0, 1000.0)] * 2)
    with pytest.warns(UserWarning, match=r"scaled to \[0, 1\].*divide each by high - low"):
        agent_for(space, "ei", 0, {"kernel": kernel})
    agent_for(space, "ei", 0, {"kernel": kernel, "learn": True})
    agent_for(space, "ei", 0, {"kernel": Matern52((300.0, 0.3))})  # a dimension without effect


@pytest.mark.parametrize("rule", ["believer", "randomised-believer"])
def test_a_batch_rule_believes_in_the_pending_evaluations_of_a_campaign(rule):
    """EI over the believed rewards too, by conditioning a copy of the posterior on them."""
    space = {"x": Integer(0, 20), "y": Integer(0, 20)}
    settings = {"augmented": False, "incumbent": "posterior-mean", "noise": 0.05, "batch": rule}
    kernel = Matern52(0.4)
    campaign = Campaign(space, "ei", maximize=False, seed=0, n_initial=6, kernel=kernel, **settings)
    for _ in range(6):
        (asked,) = campaign.ask()
        campaign.tell(asked.id, abs(asked.params["x"] - 7.0) + abs(asked.params["y"] - 11.0))
    agent, chosen = campaign.agent, []
    for _ in range(4):
        rng, believed = deepcopy(agent.rng), deepcopy(agent.posterior)
        for arm in chosen:
            reward = believed.mean[[arm]]
            if rule != "believer":
                spread = np.sqrt(believed.var[arm] + believed.noise_var)
                reward = reward + spread * rng.standard_normal(1)
            believed.condition([arm], reward)
        level = believed.mean[believed.observed].max()
        score = LogEI(level).score(believed.mean, believed.var)
        (asked,) = campaign.ask()
        arm = campaign.space.action(asked.params)
        assert score[arm] == pytest.approx(score.max(), abs=1e-6)
        chosen.append(arm)
    assert len(campaign.pending) == 4
