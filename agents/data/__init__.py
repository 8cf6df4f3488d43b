"""The data of an agent: the log of observations, compression, forgetting and model fitting."""
