"""An agent's data: the log of observations, what is let in, what is forgotten, what is learned."""
