"""Learns a placement policy on the virtual clock by the cross-entropy method, and measures it.

A policy is one weight per column of an observation: a request goes to the engine with the lowest
weighted sum. Run it with the wheel of docs/python.md, its extra `gym`, and BATON_BIN.
"""

import time

import numpy as np
from baton.environments import PlacementEnv

WORKLOAD = {
    "dataset": "shared-prefix",
    "num_prompts": 400,
    "request_rate": 60,
    "prefix_repetition_num_prefixes": 40,
    "prefix_repetition_prefix_len": 4000,
}
CLUSTER = {"model": "llama-3.1-8b", "topology": "4P2D", "slo": "ttft=300ms"}
ROUNDS, CANDIDATES, BEST = 6, 12, 3
SEED, HELD_OUT_SEED = 0, 1


def play(env, weights: np.ndarray, seed: int) -> float:
    """The share of requests that meet the SLO."""
    seen, _info = env.reset(seed=seed)
    rewards, is_over = 0.0, False
    while not is_over:
        seen, reward, is_over, _truncated, _info = env.step(int((seen @ weights).argmin()))
        rewards += reward
    return rewards / WORKLOAD["num_prompts"]


def main() -> None:
    env = PlacementEnv(**WORKLOAD, **CLUSTER)
    random = np.random.default_rng(SEED)
    # Columns differ by orders of magnitude: one spread per column makes them comparable.
    spread = np.array([0, 1e-3, 1e-2, 1, 1, 1e-3, 1])
    mean, began = np.zeros_like(spread), time.perf_counter()
    for number in range(ROUNDS):
        tried = [random.normal(mean, spread) for _ in range(CANDIDATES)]
        scores = [play(env, weights, SEED) for weights in tried]
        best = [tried[i] for i in np.argsort(scores)[-BEST:]]
        mean, spread = np.mean(best, axis=0), np.std(best, axis=0)
        print(f"round {number + 1}: {np.mean(scores):.3f} on average, {max(scores):.3f} at best")
    decisions = ROUNDS * CANDIDATES * WORKLOAD["num_prompts"]
    print(f"{decisions / (time.perf_counter() - began):,.0f} decisions per second")
    fewest_requests = np.eye(len(env.columns))[env.columns.index("requests")]
    print(f"another seed: {play(env, mean, HELD_OUT_SEED):.3f} learned")
    print(f"              {play(env, fewest_requests, HELD_OUT_SEED):.3f} fewest requests")
    env.close()


if __name__ == "__main__":
    main()
