"""Maps from few coordinates into a box of many: random embeddings, slices and lines."""

from gpbandits_env.agents.embeddings.base import BoxMap as BoxMap
from gpbandits_env.agents.embeddings.base import EmbeddedMap as EmbeddedMap
from gpbandits_env.agents.embeddings.base import Embedding as Embedding
from gpbandits_env.agents.embeddings.base import kernel_on_y as kernel_on_y
from gpbandits_env.agents.embeddings.projections import ClippedEmbedding as ClippedEmbedding
from gpbandits_env.agents.embeddings.projections import Coordinates as Coordinates
from gpbandits_env.agents.embeddings.projections import HashEmbedding as HashEmbedding
from gpbandits_env.agents.embeddings.projections import LineEmbedding as LineEmbedding
from gpbandits_env.agents.embeddings.projections import gaussian_embedding as gaussian_embedding
from gpbandits_env.agents.embeddings.projections import sequential_embedding as sequential_embedding
