"""Other people's optimisers behind our ask and tell; each needs its extra."""
