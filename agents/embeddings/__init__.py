"""Maps of a few coordinates into a box of many: random embeddings, slices and lines."""

from gpbandits_env.agents.embeddings.base import BoxMap, EmbeddedMap, Embedding, kernel_on_y
from gpbandits_env.agents.embeddings.projections import (
    ClippedEmbedding,
    Coordinates,
    HashEmbedding,
    LineEmbedding,
    gaussian_embedding,
    sequential_embedding,
)

__all__ = [
    "BoxMap",
    "ClippedEmbedding",
    "Coordinates",
    "EmbeddedMap",
    "Embedding",
    "HashEmbedding",
    "LineEmbedding",
    "gaussian_embedding",
    "kernel_on_y",
    "sequential_embedding",
]
