"""Maps between the actions of a problem and the points of an agent's posterior."""
