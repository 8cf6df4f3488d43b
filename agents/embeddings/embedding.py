"""Maps from a small box into a large one: random embeddings, coordinates and lines."""

import zlib
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from gpbandits_env.agents.embeddings.action_map import ActionMap, box_of
from gpbandits_env.arrays import Array, IntArray
from gpbandits_env.domains import Box
from gpbandits_env.gp.kernels import Kernel
from gpbandits_env.gp.learning import InputScaling
from gpbandits_env.problem import Problem

# The largest number of steps in the search for a preimage.
STEPS = 20
# A coordinate whose direction is smaller than this never reaches a face.
STILL = 1e-14


class Embedding(ABC):
    """A map from points y of a small box, (n, d), to points x of [-1, 1]^D, (n, D).

    Attributes:
        half: (d,) the small box is [-half, half].
        stretch: the ratio of the length of a step in x to that in y: the root mean square over
            axes.
    """

    half: Array
    stretch: float

    @abstractmethod
    def lift(self, y: Array) -> Array:
        """The points x in [-1, 1]^D, a new array (n, D)."""

    @abstractmethod
    def lower(self, x: Array) -> Array:
        """Points y of the small box, (n, d), whose lift is x, or close to x if there is none."""

    @abstractmethod
    def pull(self, y: Array, gradients: Array) -> Array:
        """Convert gradients by x at the lifts of y, (n, D), to gradients by y, (n, d)."""


class BoxMap:
    """The map of an embedding in the units of a box, whose D sides are scaled to [-1, 1].

    Attributes:
        embedding: as given.
        small: the small box.
        scaling: the scaling of the box to the cube.
    """

    def __init__(self, embedding: Embedding, box: Box) -> None:
        self.embedding, self.small = embedding, Box(-embedding.half, embedding.half)
        self.scaling = InputScaling.of(box)

    def lift(self, y: Array) -> Array:
        """The images in the box of points y of the small box, (n, d): a new array (n, D)."""
        return self.scaling.unscale(self.embedding.lift(y))

    def lower(self, x: Array) -> Array:
        """Points y of the small box, (n, d), whose images are x or close to x."""
        return self.embedding.lower(self.scaling.scale(x))

    def pull(self, y: Array, gradients: Array) -> Array:
        """Convert gradients by x at the lifts of y, (n, D), to gradients by y, (n, d)."""
        return self.embedding.pull(y, gradients * self.scaling.unit)


class EmbeddedMap(ActionMap):
    """The posterior is on points y of a small box; the actions are points x of a large box.

    The problem's kernel is a kernel of x. The kernel of y has its lengthscale divided by the
    stretch of the embedding, so that the two agree on average. A reward observed outside the image
    of the embedding counts at the nearest point of the image (`Embedding.lower`), which is an
    approximation.

    If several y give the same action (clipping), the posterior is conditioned at the y that was
    chosen last. That y is kept until the next `ask`; it is not part of a snapshot.

    Attributes:
        embedding: the embedding, a map into [-1, 1]^D.
    """

    identity: ClassVar[bool] = False

    def __init__(self, problem: Problem, embedding: Embedding) -> None:
        self._box = box_of(problem)
        self.embed(embedding)
        kernel = kernel_on_y(problem.kernel, self._map.scaling, embedding.stretch)
        super().__init__(problem.replaced(domain=self._map.small, kernel=kernel))

    def embed(self, embedding: Embedding) -> None:
        """Use an embedding, which has the same small box as the one before."""
        self.embedding, self._map = embedding, BoxMap(embedding, self._box)
        # A checksum of the image of a fixed point.
        y = np.linspace(0.1, 0.2, self._map.small.dim)[None] * embedding.half
        self.fingerprint = zlib.crc32(embedding.lift(y).tobytes())
        self._chosen: dict[bytes, Array] = {}

    def actions(self, points: Array) -> Array:
        lifted = self._map.lift(points)
        self._chosen = {x.tobytes(): y for x, y in zip(lifted, points.copy(), strict=True)}
        return lifted

    def points(self, actions: Array) -> Array:
        lowered = self._map.lower(actions)
        for i, point in enumerate(actions):
            lowered[i] = self._chosen.get(np.ascontiguousarray(point).tobytes(), lowered[i])
        return np.clip(lowered, self._map.small.low, self._map.small.high)


def kernel_on_y(kernel: Kernel, scaling: InputScaling, stretch: float) -> Kernel:
    """The kernel of y with the correlations of a kernel of x, on average over axes.

    Several lengthscales are replaced by their geometric mean. A kernel without lengthscale is
    unchanged. The kernel of x is in the units of the box, ``stretch`` in those of [-1, 1]^D.
    """
    return kernel.with_lengthscale(
        lambda ell: float(np.exp(np.mean(np.log(np.asarray(ell) / scaling.unit)))) / stretch
    )


class ClippedEmbedding(Embedding):
    """The embedding x = clip(A y, -1, 1) with a matrix A (D, d) and y in [-half, half]."""

    def __init__(self, matrix: Array, half: Array) -> None:
        self.matrix, self.half = matrix, half
        self.stretch = float(np.sqrt(np.mean(np.sum(matrix**2, axis=0))))

    def lift(self, y: Array) -> Array:
        return np.clip(y @ self.matrix.T, -1.0, 1.0)

    def lower(self, x: Array) -> Array:
        return np.array([self._preimage(row) for row in x]).reshape(len(x), len(self.half))

    def pull(self, y: Array, gradients: Array) -> Array:
        # Where a coordinate is clipped, moving y does not move x.
        moving = np.abs(y @ self.matrix.T) < 1.0
        return np.asarray((gradients * moving) @ self.matrix)

    def _preimage(self, x: Array) -> Array:
        """A point y of the small box whose lift is x, (D,), or the nearest one found."""
        # If at least d coordinates of x lie inside the cube, they determine y. For a coordinate on
        # a face, A y only has to reach that face.
        inside = np.abs(x) < 1.0
        wanted = inside if inside.sum() >= len(self.half) else np.ones(len(x), bool)
        y = np.zeros(len(self.half))
        for _ in range(STEPS):
            solved, *_ = np.linalg.lstsq(self.matrix[wanted], x[wanted], rcond=None)
            y = np.clip(solved, -self.half, self.half)
            again = inside | (np.clip(self.matrix @ y, -1.0, 1.0) != x)
            if (again == wanted).all() or not again.any():
                break
            wanted = again
        return y


class HashEmbedding(Embedding):
    r"""Each coordinate of x copies one of the d coordinates of y, with a sign.

    .. math:: x_i = s_i \, y_{h(i)}, \quad y \in [-1, 1]^d

    No point leaves the cube, so nothing is clipped. A coordinate of y that is never copied has no
    effect. The hash h, uniform on {1..d}, and the signs s, uniform, are drawn from the generator.

    Source: Nayebi, Munteanu & Poloczek (2019), "A Framework for Bayesian Optimization in Embedded
    Subspaces", Section 3.
    """

    def __init__(self, dim: int, low_dim: int, rng: np.random.Generator) -> None:
        self.hash: IntArray = rng.integers(0, low_dim, size=dim)
        self.signs: Array = rng.choice([-1.0, 1.0], size=dim)
        self.half = np.ones(low_dim)
        self._copies = np.bincount(self.hash, minlength=low_dim).astype(np.float64)
        self.stretch = float(np.sqrt(self._copies.mean()))

    def lift(self, y: Array) -> Array:
        return np.asarray(y[:, self.hash] * self.signs)

    def lower(self, x: Array) -> Array:
        # The mean of the copies is exact on the image, and elsewhere gives its nearest point.
        return self.pull(x, x) / np.maximum(self._copies, 1.0)

    def pull(self, y: Array, gradients: Array) -> Array:
        signed, low_dim = gradients * self.signs, len(self.half)
        columns = [np.bincount(self.hash, row, low_dim) for row in signed]
        return np.array(columns, dtype=np.float64).reshape(len(signed), low_dim)


def gaussian_embedding(dim: int, low_dim: int, rng: np.random.Generator) -> ClippedEmbedding:
    """The embedding of REMBO: A (D, d) with independent N(0, 1) entries, |y_i| <= sqrt d.

    Source: Wang et al. (2013), "Bayesian Optimization in a Billion Dimensions via Random
    Embeddings", Algorithm 2.
    """
    half = np.full(low_dim, np.sqrt(low_dim))
    return ClippedEmbedding(rng.standard_normal((dim, low_dim)), half)


def sequential_embedding(anchor: Array, low_dim: int, rng: np.random.Generator) -> ClippedEmbedding:
    """The embedding of a stage of SRE: x = clip(a x' + A y) with (a, y) in [-1, 1]^(d + 1).

    The anchor x' (D,) is the best point of the earlier stages, and 0 in the first stage. A (D, d)
    has independent N(0, 1/d) entries.

    Source: Qian, Hu & Yu (2016), "Derivative-Free Optimization of High-Dimensional Non-Convex
    Functions by Sequential Random Embeddings", Algorithm 2; the ranges of a and y and the variance
    of A are those of ZOOpt, its authors' software.
    """
    matrix = rng.standard_normal((len(anchor), low_dim)) / np.sqrt(low_dim)
    return ClippedEmbedding(np.column_stack([anchor, matrix]), np.ones(low_dim + 1))


class Coordinates(Embedding):
    """x equals y in [-1, 1]^d on the active coordinates (d,), and a fill (m, D) on the others.

    The i-th point of a batch uses row i of the fill; further points start again at row 0.
    """

    def __init__(self, active: IntArray, fill: Array) -> None:
        self.active, self.fill = active, fill
        self.half, self.stretch = np.ones(len(active)), 1.0

    def lift(self, y: Array) -> Array:
        x: Array = self.fill[np.arange(len(y)) % len(self.fill)]
        x[:, self.active] = y
        return x

    def lower(self, x: Array) -> Array:
        return x[:, self.active]

    def pull(self, y: Array, gradients: Array) -> Array:
        return gradients[:, self.active]


class LineEmbedding(Embedding):
    """The line x = anchor + s v within [-1, 1]^D; its coordinate y in [-1, 1] is s, scaled.

    Args:
        anchor: (D,) in the cube.
        direction: v, (D,), not 0; its length has no effect.
    """

    def __init__(self, anchor: Array, direction: Array) -> None:
        self.anchor, self.direction = anchor, direction
        v = direction / np.linalg.norm(direction)
        moving = np.abs(v) > STILL
        ends = (np.array([[-1.0], [1.0]]) - anchor[moving]) / v[moving]
        first, last = ends.min(axis=0).max(), ends.max(axis=0).min()
        self.half = np.ones(1)
        self._start = anchor + 0.5 * (first + last) * v
        self._step = 0.5 * (last - first) * v
        self.stretch = float(np.linalg.norm(self._step))

    def lift(self, y: Array) -> Array:
        return np.clip(self._start + y * self._step, -1.0, 1.0)

    def lower(self, x: Array) -> Array:
        length = max(float(self._step @ self._step), STILL**2)
        return np.clip((x - self._start) @ self._step[:, None] / length, -1.0, 1.0)

    def pull(self, y: Array, gradients: Array) -> Array:
        return np.asarray(gradients @ self._step[:, None])
