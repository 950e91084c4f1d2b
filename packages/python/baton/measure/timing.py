"""Durations of calls on a GPU, replayed from CUDA graphs as an engine's steps are."""

from __future__ import annotations

import time
from typing import Callable

import torch

_WARM_UPS = 3


def durations_us(call: Callable[[], object], *, repeats: int, max_seconds: float) -> list[float]:
    """Times of single calls in µs: up to ``repeats``, at least five, for about ``max_seconds``."""
    if not torch.cuda.is_available():
        call()
        return [_wall_us(call) for _ in range(2)]
    graph = captured(call)
    first = replay_us(graph.replay)
    count = max(5, min(repeats, int(max_seconds * 1e6 / first)))
    return [replay_us(graph.replay) for _ in range(count)]


def eager_us(call: Callable[[], object]) -> float:
    """The median time of a call that is launched kernel by kernel, in µs."""
    for _ in range(_WARM_UPS):
        call()
    once = replay_us if torch.cuda.is_available() else _wall_us
    return sorted(once(call) for _ in range(9))[4]


def captured(call: Callable[[], object]) -> torch.cuda.CUDAGraph:
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(_WARM_UPS):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    graph.replay()
    torch.cuda.synchronize()
    return graph


def replay_us(replay: Callable[[], object]) -> float:
    start = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    start.record()
    replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1000


def _wall_us(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e6
