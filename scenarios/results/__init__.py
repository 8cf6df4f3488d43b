"""The results of a study: the results file, metrics, statistics and comparisons."""
