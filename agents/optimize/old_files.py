"""Campaigns' files of format 1, read as of today: other names, and data kept in other places."""

import zlib
from typing import Any

import numpy as np

RENAMED = {"standardise": "standardize", "back": "posterior"}


def from_format_1(state: dict[str, Any]) -> dict[str, Any]:
    """The state of today that says the same.

    Raises:
        KeyError, TypeError, ValueError, IndexError, AttributeError: it is no state of format 1.
    """
    settings = {RENAMED.get(name, name): value for name, value in state["settings"].items()}
    if "qbar" in settings:
        settings["posterior"] = {"type": "nystrom", "qbar": settings.pop("qbar")}
    return state | {
        "maximize": state["maximise"],
        "settings": settings,
        "state": _agent(dict(state["state"]), settings.get("epsilon") or 0.0),
        "points": state.get("asked", []),
    }


def _agent(state: dict[str, Any], epsilon: float) -> dict[str, Any]:
    posterior = state["posterior"]
    if "back" in posterior:
        posterior["representation"] = posterior.pop("back")
    state["action_map"] = state.pop("candidates")
    dropout, line = state.pop("dropout", {}), state.get("line", {})
    if dropout.get("refit"):
        told = {"places": [posterior["points"]], "rewards": [posterior["rewards"]]}
        state["refit"] = dropout["refit"] | told
    if line:
        state["line"] = (line["anchor"], line["direction"])
    state.get("sre", {}).pop("key", None)
    if key := state.pop("key", None) or dropout.get("key") or line.get("key"):
        state["action_map"] = zlib.crc32(np.array(key).tobytes())
    state["log"] = _log(state)
    if "refit" in state:
        refit = state["refit"]
        model = refit["model"] | {"epsilon": state.get("epsilon", epsilon)}
        state["refit"] = {"model": model, "fitted": refit["fitted"], "learned": refit["learned"]}
    for key in ("forgetting", "history", "rounds", "best_reward", "epsilon"):
        state.pop(key, None)
    return state


def _log(state: dict[str, Any]) -> dict[str, Any]:
    """The log, put together from the posterior, the learner, a window and a history of arms."""
    posterior, refit, history = state["posterior"], state.get("refit"), state.get("history", [])
    if refit is None:  # a window, or the rounds that epsilon is learned from
        chunks = list(state["forgetting"]) or list(state.get("rounds", []))
        data = len(chunks)
    else:
        chunks = [  # one campaign's value after the other
            (points[i : i + 1], rewards[i : i + 1])
            for points, rewards in zip(refit["places"], refit["rewards"], strict=True)
            for i in range(len(rewards))
        ]
        data = sum(len(rewards) for _, rewards, _ in history) or len(posterior.get("rewards", []))
    faded = np.zeros(len(chunks))
    if history:  # on arms
        faded[len(chunks) - data :] = [fade for _, rewards, fade in history for _ in rewards]
    elif data and refit is not None:  # in a box time is lost correlation
        clock = np.append(posterior["stamps"], posterior["clock"])
        faded[len(chunks) - data :] = -np.expm1(-2.0 * np.diff(clock))
    first = state["round"] + 1 - len(chunks)
    entries = [
        (max(0, first + i), points, rewards, float(faded[i]))
        for i, (points, rewards) in enumerate(chunks)
    ]
    known = [float(r) for _, rewards in chunks[len(chunks) - data :] for r in rewards]
    known += [float(r) for r in posterior.get("rewards", [])]
    return {
        "entries": entries,
        "start": len(chunks) - data,
        "best_reward": state.get("best_reward", max(known, default=-np.inf)),
        "observations": max(len(posterior.get("rewards", [])), sum(len(r) for _, r in chunks)),
    }
