"""An agent's data: the log of observations, compression, forgetting, learning of the model."""
