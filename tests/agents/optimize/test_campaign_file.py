"""The file of a campaign."""

import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import gpbandits_env.agents.optimize.file as campaign_file
from gpbandits_env.agents.optimize import Campaign, Choice, Integer, Real
from gpbandits_env.agents.optimize.file import CampaignFile
from gpbandits_env.errors import InvalidInput, StoreError, UnknownName
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


KILLED = """
import sys, time
from gpbandits_env.agents.optimize import Campaign
campaign = Campaign({"x": (0.0, 1.0)}, seed=0, n_initial=2, file=sys.argv[1])
while True:
    s, = campaign.ask()
    campaign.tell(s.id, -(s.params["x"] - 0.3) ** 2)
    print(len(campaign.records), flush=True)
"""


@pytest.mark.slow  # that each state is in the file, whole, is tested above and below
def test_a_killed_campaign_goes_on(tmp_path):
    file = tmp_path / "campaign.json"
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(file)], stdout=subprocess.PIPE, text=True
    ) as process:
        while int(process.stdout.readline()) < 6:
            pass
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    campaign = Campaign.resume(file)
    told = [r for r in campaign.records if r.status == "done"]
    assert len(told) >= 6
    assert campaign.agent.posterior.size == len(told)
    whole = Campaign({"x": (0.0, 1.0)}, seed=0, n_initial=2)
    for _ in told:
        (s,) = whole.ask()
        whole.tell(s.id, -((s.params["x"] - 0.3) ** 2))
    assert [r.params for r in whole.records] == [r.params for r in told]


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


def test_a_full_disk_loses_nothing(begun, tmp_path, monkeypatch):
    file = tmp_path / "campaign.json"
    campaign = begun(file=file)
    (suggestion,) = campaign.ask()
    before = file.read_bytes()

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="No space left"):
            campaign.tell(suggestion.id, 0.5)
        with pytest.raises(StoreError, match=r"No space left.*save\(file\)"):
            campaign.ask()
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
    assert campaign.records[suggestion.id].value == 0.5
    assert len(campaign.pending) == 1
    campaign.save(file)
    assert Campaign.resume(file).snapshot()["records"] == campaign.snapshot()["records"]


def test_a_new_campaign_in_a_folder_that_is_not_there_is_refused(tmp_path):
    """The error does not mention a campaign in memory, because there is none yet."""
    with pytest.raises(StoreError, match=r"its folder does not exist$"):
        Campaign([(0.0, 1.0)], seed=0, file=tmp_path / "none" / "campaign.json")


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
    with pytest.raises(InvalidInput, match=r"its format is .*campaigns are in format 11"):
        Campaign.resume(file)


def test_what_another_process_wrote_is_not_written_over(begun, tmp_path):
    file = tmp_path / "campaign.json"
    one = begun(2, file=file)
    other = Campaign.resume(file)
    (asked,) = one.ask()
    before = file.read_bytes()
    with pytest.raises(StoreError, match="another process"):
        other.ask()
    with pytest.raises(StoreError, match="another process"):
        other.save(file)
    assert file.read_bytes() == before
    one.tell(asked.id, 0.5)
    other.save(tmp_path / "other.json")
    assert len(Campaign.resume(tmp_path / "other.json").pending) == 1
    again = Campaign.resume(file)
    again.ask()
    file.unlink()  # what is gone is not lost over again
    again.ask()
    assert len(Campaign.resume(file).pending) == 2


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
        with pytest.raises(InvalidInput, match=r"is a folder, not a file$"):
            use(tmp_path)


def test_an_array_of_objects_is_refused_when_it_is_saved(begun, tmp_path):
    with pytest.raises(InvalidInput, match="an array of objects"):
        CampaignFile(tmp_path / "c.json").write({"a": np.array([1, "a"], dtype=object)})
    assert not list(tmp_path.iterdir())


def test_every_damaged_byte_is_found(begun, tmp_path):
    """Flipped bits, at 360 places of the file and everywhere in its head; and files cut short."""
    file, damaged = tmp_path / "campaign.json", tmp_path / "damaged.json"
    begun(8).save(file)
    whole, rng = file.read_bytes(), np.random.default_rng(0)
    places = rng.choice(np.arange(120, len(whole)), 360, replace=False).tolist()
    for place in [*range(120), *places, len(whole) - 1]:
        for bit in (int(rng.integers(8)), 5):  # one of them changes the case of letters
            content = bytearray(whole)
            content[place] ^= 1 << bit
            damaged.write_bytes(content)
            with pytest.raises(InvalidInput, match="holds no campaign"):
                Campaign.resume(damaged)
    for end in (0, 10, len(whole) // 2, len(whole) - 1):
        damaged.write_bytes(whole[:end])
        with pytest.raises(InvalidInput, match="holds no campaign, or it was damaged"):
            Campaign.resume(damaged)
    damaged.write_bytes(whole.replace(b'"done"', b'"fail"', 1))
    with pytest.raises(InvalidInput, match="its checksum differs, so it was damaged or edited"):
        Campaign.resume(damaged)


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


CHANGES = """
import sys
from gpbandits_env.agents.optimize import Campaign
from gpbandits_env.errors import StoreError
file, own, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
campaign = Campaign.resume(file)
print("ready", flush=True)
sys.stdin.readline()
done = 0
while done < count:
    x = (1000 * own + done) / 1e6
    try:
        id = campaign.expect({"x": x}).id
    except StoreError as error:
        assert "another process has written" in str(error), error
        campaign = Campaign.resume(file)
        continue
    print("expected", id, x, flush=True)
    done += 1
    try:
        campaign.fail(id, str(x))
    except StoreError:
        campaign = Campaign.resume(file)
        continue
    print("failed", id, x, flush=True)
    done += 1
"""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("processes", "changes"),
    [(2, 20), *(pytest.param(n, 500, marks=pytest.mark.slow) for n in (2, 4))],
)
def test_no_change_is_lost_where_several_processes_use_a_file(processes, changes, tmp_path):
    file = tmp_path / "campaign.json"
    Campaign({"x": (0.0, 1.0)}, seed=0, file=file)
    each = str(changes // processes)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", CHANGES, str(file), str(i), each],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for i in range(processes)
    ]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    for process in running:
        process.stdin.write("\n")
        process.stdin.flush()
    lines = [line.split() for process in running for line in process.communicate()[0].splitlines()]
    assert all(process.returncode == 0 for process in running)
    assert len(lines) >= changes
    records = Campaign.resume(file).records
    for what, id, x in lines:
        record = records[int(id)]
        assert record.params == {"x": float(x)}
        assert what != "failed" or (record.status, record.reason) == ("failed", x)
    assert len({id for what, id, _ in lines if what == "expected"}) == len(records)
    assert list(tmp_path.iterdir()) == [file]


def test_of_two_new_campaigns_with_a_file_one_is_refused(tmp_path):
    one, other = CampaignFile(tmp_path / "c.json"), CampaignFile(tmp_path / "c.json")
    one.refuse_old()
    other.refuse_old()
    one.write({"a": 1})
    with pytest.raises(StoreError, match="another process has written"):
        other.write({"a": 2})
    assert CampaignFile(tmp_path / "c.json").read() == {"a": 1}


KILLED_WHILE_WRITING = """
import os, signal, sys
from gpbandits_env.agents.optimize import Campaign
campaign = Campaign.resume(sys.argv[1])
os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)
campaign.ask()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_what_a_kill_leaves_is_gone_after_the_next_change(begun, tmp_path):
    file = tmp_path / "campaign.json"
    begun(2, file=file)
    before = file.read_bytes()
    for _ in range(2):
        code = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, str(file)]).returncode
        assert code == -signal.SIGKILL
        assert file.read_bytes() == before
        left = sorted(path.suffix for path in tmp_path.iterdir())
        assert left == [".json", ".lock", ".part"]  # the second kill leaves no more
    Campaign.resume(file).ask()
    assert list(tmp_path.iterdir()) == [file]
    assert len(Campaign.resume(file).pending) == 1


def test_a_file_that_disappears_during_a_write_is_written_anew(tmp_path, monkeypatch):
    path = tmp_path / "campaign.json"
    (file := CampaignFile(path)).write({"n": 1})
    with monkeypatch.context() as patch:
        read = type(path).read_bytes
        patch.setattr(type(path), "read_bytes", lambda self: self.unlink() or read(self))
        file.write({"n": 2})
    assert file.read() == {"n": 2}
