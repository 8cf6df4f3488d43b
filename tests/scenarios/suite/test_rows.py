import numpy as np
import pytest

from gpbandits_env.errors import StoreError
from gpbandits_env.scenarios.results import evidence
from gpbandits_env.scenarios.results.evidence import rounded
from gpbandits_env.scenarios.suite import rows
from gpbandits_env.scenarios.suite.rows import Row


def row(agent, problem, trials, horizon, seed=0):
    rounds = rows.log_spaced(horizon)
    rng = np.random.default_rng(seed)
    regret = rounded(rng.lognormal(size=(trials, len(rounds))), rows.BITS)
    digests = rng.integers(0, 2**32, size=trials, dtype=np.uint32)
    return Row(agent, problem, rounds, regret, 1e-3, "abc", digests, "def", "0.1")


def test_rounds_are_log_spaced_from_the_first_to_the_last():
    for horizon in (1, 10, 200, 2000):
        found = rows.log_spaced(horizon)
        assert (found[0], found[-1]) == (1, horizon)
        assert len(found) <= rows.POINTS
        assert (np.diff(found) > 0).all()


@pytest.mark.parametrize("bits", [rows.BITS, evidence.BITS])
def test_rounding_keeps_some_bits(bits):
    exact = np.random.default_rng(0).lognormal(sigma=5.0, size=10_000)
    found = rounded(exact, bits)
    assert np.abs(found / exact - 1.0).max() <= 2.0**-bits * 1.001
    np.testing.assert_array_equal(rounded(found, bits), found)
    plain = np.array([0.0, 0.5, -3.0, np.inf, np.nan])
    np.testing.assert_array_equal(rounded(plain, bits), plain)
    for values in (found, plain):
        of = evidence.planes(values, bits)
        np.testing.assert_array_equal(evidence.of_planes(of, bits), values)


def test_rows_are_read_as_they_were_saved(tmp_path):
    kept = [row("a", "s/x", 3, 100), row("a", "s/y", 2, 500, 1), row("b", "s/x", 3, 100, 2)]
    rows.save(tmp_path / "a.npz", kept[::-1])
    found = rows.load(tmp_path / "a.npz")
    assert list(found) == [("a", "s/x"), ("a", "s/y"), ("b", "s/x")]
    for one, other in zip(kept, found.values(), strict=True):
        for name, value in vars(one).items():
            np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)
    assert rows.load(tmp_path / "nothing.npz") == {}


def test_the_same_rows_are_the_same_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        rows.save(tmp_path / name, [row("a", "s/y", 2, 50), row("a", "s/x", 2, 50)])
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_another_file_is_refused(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04 something")
    with pytest.raises(StoreError, match="not a file of a suite's rows"):
        rows.load(tmp_path / "a.npz")
    plain = np.zeros(8)
    evidence.write_arrays(tmp_path / "a.npz", [], regret=plain, digests=plain)
    with pytest.raises(StoreError, match="not a file of a suite's rows"):
        rows.load(tmp_path / "a.npz")
