"""Maps of a few coordinates into a box of many: linear embeddings, random or chosen."""

from gpbandits_env.agents.embeddings.base import Embedding
from gpbandits_env.agents.embeddings.clipped import (
    ClippedEmbedding,
    gaussian_embedding,
    sequential_embedding,
)
from gpbandits_env.agents.embeddings.coordinates import Coordinates
from gpbandits_env.agents.embeddings.hashing import HashEmbedding
from gpbandits_env.agents.embeddings.places import EmbeddedPlaces

__all__ = [
    "ClippedEmbedding",
    "Coordinates",
    "EmbeddedPlaces",
    "Embedding",
    "HashEmbedding",
    "gaussian_embedding",
    "sequential_embedding",
]
