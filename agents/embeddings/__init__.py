"""Maps of a few coordinates into a box of many: random embeddings, slices and lines."""

from gpbandits_env.agents.embeddings.base import BoxMap, Embedding
from gpbandits_env.agents.embeddings.places import EmbeddedMap
from gpbandits_env.agents.embeddings.projections import (
    ClippedEmbedding,
    HashEmbedding,
    gaussian_embedding,
    sequential_embedding,
)
from gpbandits_env.agents.embeddings.slices import Coordinates, LineEmbedding

__all__ = [
    "BoxMap",
    "ClippedEmbedding",
    "Coordinates",
    "EmbeddedMap",
    "Embedding",
    "HashEmbedding",
    "LineEmbedding",
    "gaussian_embedding",
    "sequential_embedding",
]
