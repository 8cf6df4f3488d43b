"""The true rewards: functions, how they drift, tasks and data sets. No agent sees them."""
