"""Running a study: trials, engines, the run as a whole."""
