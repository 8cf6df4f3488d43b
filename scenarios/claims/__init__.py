"""What the papers claim, as data, and how it is judged."""
