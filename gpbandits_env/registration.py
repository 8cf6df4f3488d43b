"""The ids under which Gymnasium knows the environments."""

from gymnasium.envs.registration import register, registry

HORIZON = 1000

# id: the entry point of one environment; the entry point named "...Vector" makes many
ENVIRONMENTS = {
    "gpbandits/StaticGP-v0": "gp:StaticGP",
    "gpbandits/MarkovGP-v0": "gp:MarkovGP",
    "gpbandits/Drifting-v0": "gp:Drifting",
    "gpbandits/Contextual-v0": "gp:Contextual",
    "gpbandits/Table-v0": "table:Table",
    "gpbandits/Replay-v0": "table:Replay",
    "gpbandits/Task-v0": "task:TaskEnv",
    "gpbandits/HighDim-v0": "task:HighDim",
}


def register_all() -> None:
    """Register every environment; ids that are already registered stay as they are."""
    for name, maker in ENVIRONMENTS.items():
        if name not in registry:
            register(
                id=name,
                entry_point=f"gpbandits_env.envs.{maker}",
                vector_entry_point=f"gpbandits_env.envs.{maker}Vector",
                max_episode_steps=HORIZON,
                # Gymnasium's checker (1.4) fails in every step after a first reset that is refused.
                disable_env_checker=True,
            )
