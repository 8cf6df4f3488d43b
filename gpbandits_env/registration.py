"""The ids under which Gymnasium knows the environments."""

from gymnasium.envs.registration import register, registry

HORIZON = 1000

# id: the single environment, B of it side by side
ENVIRONMENTS = {
    "gpbandits/StaticGP-v0": ("StaticGP", "StaticGPVector"),
    "gpbandits/Table-v0": ("Table", "TableVector"),
    "gpbandits/MarkovGP-v0": ("MarkovGP", "MarkovGPVector"),
    "gpbandits/Drifting-v0": ("Drifting", "DriftingVector"),
    "gpbandits/Replay-v0": ("Replay", "ReplayVector"),
    "gpbandits/Task-v0": ("TaskEnv", "TaskVector"),
    "gpbandits/HighDim-v0": ("HighDim", "HighDimVector"),
}


def register_all() -> None:
    """Register every environment; ids that are registered already stay as they are."""
    for name, (single, vector) in ENVIRONMENTS.items():
        if name not in registry:
            register(
                id=name,
                entry_point=f"gpbandits_env.envs:{single}",
                vector_entry_point=f"gpbandits_env.envs:{vector}",
                max_episode_steps=HORIZON,
            )
