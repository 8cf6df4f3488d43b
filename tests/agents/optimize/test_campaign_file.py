"""The file of a campaign."""

import numpy as np
import pytest

import gpbandits_env.agents.optimize.file as campaign_file
from gpbandits_env.agents.optimize import Campaign, Choice, Integer, Real, minimize
from gpbandits_env.agents.optimize.file import CampaignFile
from gpbandits_env.errors import InvalidInput, StoreError
from gpbandits_env.gp.kernels import SquaredExponential

MIXED = {
    "rate": Real(1e-5, 1.0, log=True),
    "depth": Integer(1, 20),
    "kind": Choice(("a", "b", None)),
}


@pytest.mark.parametrize("space", [MIXED, {"x": (0, 1), "y": (-3, 3)}, {"n": Integer(0, 50)}])
@pytest.mark.parametrize("agent", ["ei", "ts-rsr"])
def test_resuming_is_as_good_as_never_stopping(space, agent, tmp_path):
    file = tmp_path / "campaign.json"
    few = {"starts": 2, "candidates": 64, "evaluations": 40}
    search = {} if "n" in space else {"search": few}
    campaign = Campaign(space, agent, seed=0, n_initial=3, file=file, **search)
    for i in range(7):
        (s,) = campaign.ask()
        campaign.tell(s.id, np.sin(i))
    campaign.ask(2)
    copied = tmp_path / "copy.json"
    copied.write_bytes(file.read_bytes())
    twin = Campaign.resume(copied)
    assert [r.id for r in twin.pending] == [r.id for r in campaign.pending]
    ahead = [s.params for s in campaign.ask(3)]
    assert [s.params for s in twin.ask(3)] == ahead
    assert twin.snapshot()["records"] == campaign.snapshot()["records"]


def test_a_new_campaign_never_writes_over_an_old_one(begun, tmp_path):
    file = tmp_path / "campaign.json"
    old = begun(file=file)
    before = file.read_bytes()
    with pytest.raises(InvalidInput, match="resume"):
        Campaign({"x": (0.0, 1.0)}, file=file)
    assert file.read_bytes() == before
    assert len(Campaign.resume(file).records) == len(old.records)


def test_what_cannot_be_saved_is_refused_before_anything_is_asked(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be saved"):
        Campaign({"f": Choice((len, sum))}, file=tmp_path / "campaign.json")
    with pytest.raises(StoreError, match="cannot be written"):
        Campaign({"x": (0.0, 1.0)}, file=tmp_path / "none" / "campaign.json")
    assert list(tmp_path.iterdir()) == []


def test_a_kernel_object_is_saved_as_its_dict(tmp_path):
    file = tmp_path / "campaign.json"
    kernel = SquaredExponential(0.2)
    campaign = Campaign({"x": (0.0, 1.0)}, kernel=kernel, file=file)
    campaign.tell(campaign.ask()[0].id, 1.0)
    resumed = Campaign.resume(file)
    assert resumed.agent.problem.kernel == kernel
    assert Campaign.open(file, {"x": (0.0, 1.0)}, kernel=kernel).records == resumed.records
    with pytest.raises(InvalidInput, match="its settings is"):
        Campaign.open(file, {"x": (0.0, 1.0)}, kernel=SquaredExponential(0.3))


def test_a_new_campaign_in_a_folder_that_is_not_there_is_refused(tmp_path):
    """The error does not mention a campaign in memory, because there is none yet."""
    with pytest.raises(StoreError, match=r"its folder does not exist$"):
        Campaign([(0.0, 1.0)], seed=0, file=tmp_path / "none" / "campaign.json")


@pytest.mark.parametrize(
    "begin",
    [
        lambda file: Campaign({"x": (0.0, 1.0)}, file=file),
        lambda file: Campaign.open(file, {"x": (0.0, 1.0)}),
        lambda file: minimize(lambda x: x[0], [(0.0, 1.0)], n_calls=2, file=file),
    ],
)
def test_a_name_that_the_system_refuses_is_an_error_that_says_so(begin, tmp_path):
    for file in (tmp_path / ("x" * 300), tmp_path / ("x" * 300) / "campaign.json"):
        with pytest.raises(StoreError, match="cannot be written"):
            begin(file)


def test_a_file_that_holds_something_else_is_refused(tmp_path):
    for text in ("", "{}", "[1]", '{"format": 1}', '{"format": 4}', "[" * 10**5, "\xff"):
        file = tmp_path / "campaign.json"
        file.write_text(text, encoding="latin-1")
        with pytest.raises(InvalidInput, match="campaign"):
            Campaign.resume(file)
    with pytest.raises(InvalidInput):
        Campaign.resume(tmp_path / "none.json")


@pytest.mark.parametrize("found", ["1", "2", '"3"', "null", "[3, 3]"])
def test_a_file_of_another_format_is_refused_by_its_format(found, tmp_path):
    file = tmp_path / "campaign.json"
    file.write_text(f'{{"format": {found}}}', encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"its format is .*campaigns are in format 13"):
        Campaign.resume(file)


@pytest.mark.parametrize("wrong", [5, None, b"c.json", "a\0b", ["c.json"]])
def test_a_file_is_a_string_or_a_path(begun, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="file"):
        Campaign.resume(wrong)
    with pytest.raises(InvalidInput, match="file"):
        begun(0).save(wrong)
    if wrong is not None:
        with pytest.raises(InvalidInput, match="file"):
            Campaign([(0, 1)], file=wrong)
    assert not list(tmp_path.iterdir())


def test_a_file_loads_no_code_unless_it_is_trusted(tmp_path, monkeypatch):
    (tmp_path / "a_stranger.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w').close()")
    monkeypatch.syspath_prepend(tmp_path)
    Campaign({"x": (0.0, 1.0)}, file=tmp_path / "campaign.json")
    kept = CampaignFile(tmp_path / "campaign.json").read()
    kernel = {"kernel": {"type": "a_stranger:Kernel"}}
    for key, value in (("agent", "a_stranger:Agent"), ("settings", kernel)):
        CampaignFile(tmp_path / "campaign.json").write({**kept, key: value})
        with pytest.raises(InvalidInput, match="'a_stranger' is not loaded; if you trust"):
            Campaign.resume(tmp_path / "campaign.json")
        assert not (tmp_path / "mark").exists()
    with pytest.raises(InvalidInput, match="has no class 'Kernel'"):
        Campaign.resume(tmp_path / "campaign.json", trusted=True)
    assert (tmp_path / "mark").exists()


def test_a_relative_file_stays_where_it_was_if_the_folder_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    campaign = Campaign([(0.0, 1.0)], seed=0, file="c.json")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    campaign.ask()
    assert not list((tmp_path / "elsewhere").iterdir())
    assert len(Campaign.resume(tmp_path / "c.json").pending) == 1


@pytest.mark.parametrize("name", ["__array__", "__tuple__", "__items__"])
def test_names_with_the_tags_of_the_file_are_names(name, tmp_path):
    options = ({name: 1}, {1: (2,), "1": [2], None: name})
    space = {name: (0.0, 1.0), "x": Choice((name, *options)), "__array__ ": Integer(0, 3)}
    first = Campaign(space, seed=0, constraints={name: 1.0}, file=tmp_path / "c.json")
    for _ in range(9):
        first.tell(first.ask()[0].id, 1.0, constraints=[0.5])
    first.save(tmp_path / "copy.json")
    again = Campaign.resume(tmp_path / "copy.json")
    assert again.records == first.records
    assert again.space.dimensions == first.space.dimensions
    assert again.ask(2) == first.ask(2)


def test_a_missing_file_and_a_folder_are_told(tmp_path):
    with pytest.raises(InvalidInput, match=r"there is no file .* starts a campaign"):
        Campaign.resume(tmp_path / "campain.json")
    for use in (Campaign.resume, lambda file: Campaign([(0, 1)], file=file)):
        with pytest.raises(InvalidInput, match=r"is a folder, not a file: name a file in it$"):
            use(tmp_path)


def test_an_array_of_objects_is_refused_when_it_is_saved(begun, tmp_path):
    with pytest.raises(InvalidInput, match="an array of objects"):
        CampaignFile(tmp_path / "c.json").write({"a": np.array([1, "a"], dtype=object)})
    assert not list(tmp_path.iterdir())


def test_what_is_too_large_to_read_is_not_saved(begun, tmp_path, monkeypatch):
    file = tmp_path / "campaign.json"
    campaign = begun(2, file=file)
    before = file.read_bytes()
    monkeypatch.setattr(campaign_file, "MOST_BYTES", len(before) + 10)
    with pytest.raises(StoreError, match=r"at most .* can be read; the campaign in memory"):
        campaign.ask(9)
    assert file.read_bytes() == before
    assert len(Campaign.resume(file).pending) == 0


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("n", [120, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("settings", [{}, {"kernel": {"type": "matern52", "lengthscale": 0.3}}])
@pytest.mark.parametrize("side", [Real(0.0, 1.0), Integer(0, 63)])
def test_a_file_grows_by_a_kilobyte_per_observation_at_most(n, settings, side, tmp_path):
    """In a box and on 4096 arms; also where the last values came one by one, after a fit."""
    if n > 120 and not settings:
        pytest.skip("two factors of 10^4 points take too long")
    file, rng = tmp_path / "campaign.json", np.random.default_rng(0)
    campaign = Campaign({"x": side, "y": side}, seed=0, **settings)
    points = rng.integers(64, size=(n, 2)) if side.size else rng.random((n, 2))
    values = rng.standard_normal(n)
    campaign.observe_all(points[:-9], values[:-9])
    campaign.observe_all(points[-9:-5], values[-9:-5], noise=[0.1, None, 0.2, None])
    for point, value in zip(points[-5:], values[-5:], strict=True):
        campaign.observe(point, value)
    campaign.tell(campaign.ask()[0].id, 0.1)
    campaign.save(file)
    assert file.stat().st_size <= 1000 * n
    resumed = Campaign.resume(file)
    assert resumed.records == campaign.records
    for one, other in zip(resumed.predict(points), campaign.predict(points), strict=True):
        np.testing.assert_array_equal(one, other)
    assert resumed.ask() == campaign.ask()
