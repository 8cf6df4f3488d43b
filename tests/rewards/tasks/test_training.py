import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gpbandits_env.gp.threads import blas_threads
from gpbandits_env.rewards.tasks import boston, network, ramp
from gpbandits_env.rewards.tasks.boston import RMSProp
from gpbandits_env.rewards.tasks.network import Adam

RNG = np.random.default_rng(0)
GRADIENTS = RNG.normal(size=(30, 4))
START = RNG.normal(size=4)


def test_rmsprop_is_its_formula():
    parameters = START.copy()
    optimiser = RMSProp(4, rate=0.03, decay=0.2, momentum=0.4)
    p, v, b = START.copy(), np.zeros(4), np.zeros(4)
    for gradient in GRADIENTS:
        optimiser.step(parameters, gradient.copy())
        g = gradient + 0.2 * p
        v = 0.99 * v + 0.01 * g**2
        b = 0.4 * b + g / (np.sqrt(v) + 1e-8)
        p = p - 0.03 * b
        assert parameters == pytest.approx(p, rel=1e-12)


def test_adam_is_its_algorithm():
    parameters = START.copy()
    optimiser = Adam(4, rate=0.03, dtype=np.float64)
    p, m, v = START.copy(), np.zeros(4), np.zeros(4)
    for t, gradient in enumerate(GRADIENTS, start=1):
        before = gradient.copy()
        optimiser.step(parameters, gradient)
        assert (gradient == before).all()
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        p = p - 0.03 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        assert parameters == pytest.approx(p, rel=1e-12)


class Stopped(Exception):
    pass


@pytest.mark.parametrize(
    ("module", "kept", "given", "first"),
    [
        (boston, "_value_of_best", (), "validation_loss"),
        (network, "_trained", (2,), "Network"),
        (ramp, "_solved", (1.0, 0.0, 1.0, "made"), "_signed"),
    ],
)
def test_what_a_process_keeps_is_computed_by_one_blas_thread(
    monkeypatch, module, kept, given, first
):
    def stop(*given):
        raise Stopped(blas_threads())

    monkeypatch.setattr(module, first, stop)
    with threadpool_limits(2), pytest.raises(Stopped, match=r"^1$"):
        getattr(module, kept).__wrapped__(*given)  # without its cache
