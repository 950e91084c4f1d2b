"""Gymnasium environments on Baton's virtual clock: act by placing requests, or by scaling.

An episode is one replay of the workload. Needs gymnasium: ``pip install 'baton[gym]'``.
"""

from __future__ import annotations

from collections.abc import Callable

import gymnasium
import numpy as np
from gymnasium import spaces

from .conversation import Conversation
from .program import BatonError

#: The reward of a step, from the requests that ended since the last one and the new observation.
Reward = Callable[[list[dict], np.ndarray], float]

_MOST_SEED = 2**31


def good_requests(ended: list[dict], observation: np.ndarray) -> float:
    """Requests that met the SLO; without an SLO, those that were completed."""
    return float(sum(request["good"] for request in ended))


class _Environment(gymnasium.Env):
    """One long-lived process. The seed is that of ``baton replay --seed``."""

    metadata = {"render_modes": []}
    #: Names of the columns of an observation.
    columns: tuple[str, ...] = ()

    def __init__(self, kind: str, rows: Callable[[dict], int], reward: Reward, given: dict):
        flags = {name: value for name, value in given.items() if name != "baton_bin"}
        self._program = Conversation(kind, flags, given.get("baton_bin"))
        #: Facts about the decision: bounds, interval or number of engines.
        self.facts: dict = self._program.ready
        self._reward = reward
        shape = (rows(self.facts), len(self.columns))
        self.observation_space = spaces.Box(0, np.inf, shape, np.float32)
        self._seen = np.zeros(shape, np.float32)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(_MOST_SEED)) if seed is None else seed
        question = self._program.ask({"reset": drawn})
        if "done" in question:
            raise BatonError("The run ends before its first decision: give it more requests.")
        self._seen = self._observation(question)
        return self._seen, {"seed": drawn, "ended": question["ended"]}

    def step(self, action):
        question = self._program.ask({"action": self._action(action)})
        ended = question["ended"]
        info = {"ended": ended}
        if "done" in question:
            info["summary"] = question["done"]
        else:
            self._seen = self._observation(question)
        return self._seen, self._reward(ended, self._seen), "done" in question, False, info

    def close(self) -> None:
        self._program.close()

    def _table(self, rows: list[dict]) -> np.ndarray:
        return np.array([[row[name] for name in self.columns] for row in rows], np.float32)

    def _action(self, action):
        raise NotImplementedError

    def _observation(self, question: dict) -> np.ndarray:
        raise NotImplementedError


class PlacementEnv(_Environment):
    """One action per request: the index of the engine that computes its prompt.

    Keyword arguments are the flags of ``baton replay`` without ``placement``, and ``baton_bin``.
    An observation has a row per engine.
    """

    columns = (
        *("prompt_tokens", "cached_tokens", "prefill_ms", "requests"),
        *("waiting_requests", "waiting_tokens", "kv_usage"),
    )

    #: What ``baton policy ask --kind`` calls the decision.
    kind = "placement"

    def __init__(self, *, reward: Reward = good_requests, **flags):
        super().__init__(self.kind, lambda facts: facts["engines"], reward, flags)
        self.action_space = spaces.Discrete(self.facts["engines"])

    def _action(self, action) -> int:
        return int(action)

    def _observation(self, question: dict) -> np.ndarray:
        prompt = {"prompt_tokens": question["prompt_tokens"]}
        return self._table([{**prompt, **engine} for engine in question["engines"]])


class DecodePlacementEnv(PlacementEnv):
    """One action per request: the index of the engine that generates its answer.

    As PlacementEnv, with the decode engines of ``xPyD``, and with ``placement`` as a flag in place
    of ``decode_placement``. It decides when the prompt is done, or with ``decode_choice="early"``
    at arrival.
    """

    kind = "decode-placement"


class ScalingEnv(_Environment):
    """One action per ``scale_interval``: the number of engines of each role, from min to max.

    Keyword arguments are the flags of ``baton replay`` with ``max`` and without ``autoscaler``,
    and ``baton_bin``. An observation has a row per role; rates and latencies are those of the
    cluster since the last decision, 0 where nothing was measured.

    The default reward is the number of good requests less ``engine_cost`` for each engine.
    """

    columns = (
        *("engines", "waiting", "running", "kv_usage"),
        *("requests_per_second", "ttft_s", "itl_s"),
    )

    def __init__(self, *, engine_cost: float = 1.0, reward: Reward | None = None, **flags):
        def less_engines(ended: list[dict], observation: np.ndarray) -> float:
            return good_requests(ended, observation) - engine_cost * float(observation[:, 0].sum())

        super().__init__("scaling", lambda facts: len(_roles(facts)), reward or less_engines, flags)
        #: The order of roles in observations and actions.
        self.roles: list[str] = _roles(self.facts)
        least = np.array([self.facts["min"][role] for role in self.roles])
        most = np.array([self.facts["max"][role] for role in self.roles])
        self.action_space = spaces.MultiDiscrete(most - least + 1, start=least)

    def _action(self, action) -> dict:
        return {role: int(count) for role, count in zip(self.roles, action, strict=True)}

    def _observation(self, question: dict) -> np.ndarray:
        cluster = {name: question[name] for name in self.columns[4:]}
        return self._table([{**cluster, **role} for role in question["roles"]])


def _roles(facts: dict) -> list[str]:
    return [role for role in ("prefill", "decode", "aggregated") if facts["max"][role] > 0]
