"""What papers found, as checks on results; and their theory's bounds."""
