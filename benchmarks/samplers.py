"""The time of one draw, alone and in a batch, by every exact method that fits.

    python benchmarks/samplers.py [--batch 8] [--repeats 7]

`draw` is a whole draw with its normal numbers, which is also the step of a drift; `apply` is the
map from coefficients to arms alone. Ratios within one run matter; times depend on the machine.
"""

import argparse
import os
import time
from collections.abc import Callable

# The BLAS library reads this once, when it is first loaded.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

from gpbandits_env.domains import Arms, Box
from gpbandits_env.gp.kernels import (
    Kernel,
    Matern12,
    Matern32,
    Matern52,
    SquaredExponential,
)
from gpbandits_env.gp.samplers import (
    FourierFeatures,
    ProductFeatures,
    Sampler,
    circulant_sampler,
    dense_factor,
    kronecker_factor,
    low_rank_factor,
)

SECONDS = 0.03
MAKE: dict[str, Callable[[Arms, Kernel], Sampler | None]] = {
    "dense": dense_factor,
    "lowrank": lambda arms, kernel: low_rank_factor(arms, kernel, arms.size),
    "kronecker": kronecker_factor,
    "circulant": circulant_sampler,
}
SQUARE = Arms.grid((50, 50))
CASES: tuple[tuple[Arms, Kernel, str], ...] = (
    (Arms.grid(1000), SquaredExponential(0.2), "lowrank"),
    (SQUARE, SquaredExponential(0.2), "kronecker"),
    (SQUARE, SquaredExponential(0.2), "lowrank"),
    (SQUARE, SquaredExponential(0.2), "circulant"),
    (SQUARE, Matern12(0.2), "circulant"),
    (SQUARE, Matern32(0.2), "circulant"),
    (SQUARE, Matern52(0.2), "circulant"),
    (SQUARE, Matern52(0.5), "circulant"),
    (SQUARE, Matern52((0.1, 0.5)), "circulant"),
    (SQUARE, Matern52(0.2), "dense"),
    (Arms.grid((200, 200)), SquaredExponential(0.2), "kronecker"),
    (Arms.grid((200, 200)), Matern52(0.2), "circulant"),
    (Arms.grid((20, 20, 20)), SquaredExponential(0.2), "kronecker"),
    (Arms.grid((20, 20, 20)), Matern52(0.2), "circulant"),
)


def microseconds(run: Callable[[], object], repeats: int) -> float:
    """The time of the fastest of some runs of 30 ms."""
    run()
    start = time.perf_counter()
    run()
    calls = max(1, int(SECONDS / (time.perf_counter() - start)))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        times.append((time.perf_counter() - start) / calls)
    return 1e6 * min(times)


def on_arms(arms: Arms, kernel: Kernel, kind: str, batch: int, repeats: int) -> str:
    """A row of the table."""
    start = time.perf_counter()
    sampler = MAKE[kind](arms, kernel)
    assert sampler is not None
    made = 1e3 * (time.perf_counter() - start)
    rng = np.random.default_rng(0)
    xi = rng.standard_normal(sampler.rank)
    apply = microseconds(lambda: sampler(xi), repeats)
    draw = microseconds(lambda: sampler.draw(rng), repeats)
    each = microseconds(lambda: sampler.draw(rng, size=batch), repeats) / batch
    torus = getattr(sampler, "torus", None)
    rank = " x ".join(map(str, torus)) if torus else str(sampler.rank)
    what = f"{' x '.join(map(str, arms.shape))} {kernel.type_name} {kernel.parameters()}"
    return (
        f"{what[:64]:<64} {kind:<10} {rank:>14} {sampler.error:8.1e} {made:7.0f} ms"
        f" {apply:9.1f} {draw:9.1f} {each:9.1f}"
    )


def in_boxes(repeats: int) -> None:
    """The time of the features and gradients of 100 points."""
    print("\n100 points of the unit square           features       us    gradient us     error")
    rng = np.random.default_rng(0)
    x, box, kernel = rng.random((100, 2)), Box(np.zeros(2), np.ones(2)), SquaredExponential(0.2)
    for features in (ProductFeatures(box, kernel), FourierFeatures(kernel, 2, 1024, rng)):
        plain = microseconds(lambda f=features: f.features(x), repeats)  # type: ignore[misc]
        slope = microseconds(lambda f=features: f.gradient(x), repeats)  # type: ignore[misc]
        name = type(features).__name__
        print(f"{name:<36} {features.rank:11d} {plain:8.0f} {slope:14.0f} {features.error:9.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=8, help="functions in a batch")
    parser.add_argument("--repeats", type=int, default=7, help="the fastest of these counts")
    options = parser.parse_args()
    print(
        f"{'microseconds a function':<64} {'kind':<10} {'rank':>14} {'error':>8} {'made in':>10}"
        f" {'apply':>9} {'draw':>9} {f'one of {options.batch}':>9}"
    )
    for arms, kernel, kind in CASES:
        print(on_arms(arms, kernel, kind, options.batch, options.repeats), flush=True)
    in_boxes(options.repeats)


if __name__ == "__main__":
    main()
