"""What a study leaves: the results file, metrics, statistics, comparisons."""
