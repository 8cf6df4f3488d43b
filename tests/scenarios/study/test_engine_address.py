"""Addresses at which there is no cluster are told soon."""

import gc
import time

import pytest

from gpbandits_env.errors import InvalidInput
from gpbandits_env.scenarios.study import engines
from gpbandits_env.scenarios.study.engines import Engine


@pytest.fixture
def own_garbage():
    """The garbage collector looks through nothing but what the test makes."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("dask", "tcp://127.0.0.1:9"),
        ("dask", "nonsense"),
        ("dask", "http://127.0.0.1:9"),
        ("ray", "127.0.0.1:9"),
        ("ray", "ray://127.0.0.1:9"),
        ("ray", "head:99999"),
        ("ray", "nowhere"),
        ("ray", "auto"),
    ],
)
def test_no_cluster_at_the_address(name, address, own_garbage, monkeypatch):
    pytest.importorskip(engines.CLUSTERS[name])
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")  # where "auto" is
    begun = time.monotonic()
    with (
        pytest.raises(InvalidInput, match=f"no {name.title()} .* answers at '{address}'"),
        engines.opened(1, Engine(name, address)),
    ):
        pass
    gc.collect()  # a client that was made in vain would take a minute to go
    assert time.monotonic() - begun < 25


@pytest.mark.parametrize("address", [8786, "", " "])
def test_an_address_is_a_text(address):
    with pytest.raises(InvalidInput, match=f"address of a cluster is a text, got {address!r}; it"):
        Engine("dask", address)


def test_a_cluster_that_does_not_answer_leaves_the_results_as_they_are(run, stored):
    pytest.importorskip("distributed")
    before, engine = stored.read_bytes(), Engine("dask", "tcp://127.0.0.1:9")
    for name, fresh in (("new.sqlite", False), (stored.name, True)):
        with pytest.raises(InvalidInput, match="no Dask scheduler answers"):
            run(name, engine=engine, fresh=fresh)
    assert stored.read_bytes() == before
    assert [file.name for file in stored.parent.iterdir()] == [stored.name]
