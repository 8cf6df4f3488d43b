"""The file of a campaign under kills, full disks, damage and several processes."""

import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from gpbandits_env.agents.optimize import Campaign
from gpbandits_env.agents.optimize.file import CampaignFile
from gpbandits_env.errors import InvalidInput, StoreError

KILLED = """
import sys, time
from gpbandits_env.agents.optimize import Campaign
campaign = Campaign({"x": (0.0, 1.0)}, seed=0, n_initial=2, file=sys.argv[1])
while True:
    s, = campaign.ask()
    campaign.tell(s.id, -(s.params["x"] - 0.3) ** 2)
    print(len(campaign.records), flush=True)
"""


@pytest.mark.slow  # that each state is in the file, whole, is tested by the others
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
