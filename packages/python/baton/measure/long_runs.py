"""Matrix products in short runs, in long runs, and in prefill that alternates with decode.

Operator tables time a few calls after a pause. In prefill of long prompts products follow each
other for a second; a GPU that reaches its power limit then lowers its clocks.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import Callable

import torch

from .cold import product, weight_of
from .kernels import prefill_attention
from .timing import captured, replay_us

# As many warm-ups, runs and calls per run as AIConfigurator's collector takes.
_WARM_UPS = 3
_RUNS = 6
_CALLS = 6
_PAUSE_S = 0.2
_LONG_S = 1.0
_COPIES_BYTES = 300 << 20

_MATRICES = (
    *((6144, 4096), (28672, 4096), (4096, 14336)),  # Llama 8B
    *((10240, 5120), (51200, 5120), (5120, 25600)),  # Qwen3-32B
    *((5120, 5120), (25600, 5120), (5120, 12800)),  # TP 2
    *((2560, 8192), (14336, 8192), (8192, 7168)),  # Llama 70B, TP 4
)
_TOKENS = (128, 256, 512, 1024, 2048, 4096, 8192)
_PROMPTS = ((1, 2048), (1, 8192), (4, 2048))
_ALTERNATING = ((28672, 4096), (51200, 5120), (14336, 8192))
_PREFILL_MS = (20, 100, 400)
_DECODE_SHARES = (1, 4)


def write_long_runs(file: Path, device: str, seconds: float) -> None:
    """A row per kernel and way of running it: µs per call, TFLOP/s, SM clock in MHz and watts at
    the end of the run. Clock and watts are empty without NVML."""
    deadline = time.monotonic() + seconds
    with open(file, "w", newline="") as out, torch.no_grad():
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow("kernel,format,n,k,m,run,us,tflops,sm_mhz,watts".split(","))
        for row in _rows(device):
            rows.writerow(row)
            out.flush()
            if time.monotonic() > deadline:
                return


def _rows(device: str) -> Iterator[tuple]:
    for format_name in ("bf16", "fp8"):
        yield from _alternating(format_name, device)
    for format_name in ("bf16", "fp8"):
        for n, k in _MATRICES:
            weights = _copies(n, k, format_name, device)
            for m in _TOKENS:
                call = _products(weights, m, k, format_name, device)
                yield from _both("gemm", format_name, (n, k, m), call, 2 * n * k * m)
    yield from _attention(device)


def _copies(n: int, k: int, format_name: str, device: str) -> list[torch.Tensor]:
    width = 1 if format_name == "fp8" else 2
    copies = max(2, -(-_COPIES_BYTES // (n * k * width)))
    return [weight_of(n, k, format_name, device) for _ in range(copies)]


def _products(
    weights: list[torch.Tensor], m: int, k: int, format_name: str, device: str
) -> Callable[[], object]:
    call = product(torch.randn(m, k, device=device, dtype=torch.bfloat16), format_name)
    return lambda: [call(weights[at % len(weights)]) for at in range(_CALLS)]


def _both(
    kernel: str, format_name: str, sizes: tuple, call: Callable[[], object], flops: int
) -> Iterator[tuple]:
    replay = captured(call).replay
    time.sleep(_PAUSE_S)
    for _ in range(_WARM_UPS):
        replay()
    short_us = mean(replay_us(replay) for _ in range(_RUNS)) / _CALLS
    yield (kernel, format_name, *sizes, "short", *_figures(short_us, flops))
    times = _run_for(replay, _LONG_S)
    long_us = median(times[len(times) // 2 :]) / _CALLS
    yield (kernel, format_name, *sizes, "long", *_figures(long_us, flops))


def _run_for(replay: Callable[[], object], seconds: float) -> list[float]:
    """Times of replays in µs. Twenty replays are queued at once, so the GPU has no pause."""
    times: list[float] = []
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(21)]
        marks[0].record()
        for mark in marks[1:]:
            replay()
            mark.record()
        marks[-1].synchronize()
        times += [a.elapsed_time(b) * 1000 for a, b in zip(marks, marks[1:])]
    return times


def _alternating(format_name: str, device: str) -> Iterator[tuple]:
    """Products of 2,048 rows for 20 to 400 ms, then products of 16 rows for as long, or for four
    times as long, in turns for about 2.5 s."""
    for n, k in _ALTERNATING:
        weights = _copies(n, k, format_name, device)
        # The graphs read the tensors that these calls hold.
        calls = [_products(weights, m, k, format_name, device) for m in (2048, 16)]
        prefill, decode = (captured(call).replay for call in calls)
        once_us = [sorted(replay_us(run) for _ in range(9))[4] for run in (prefill, decode)]
        for prefill_ms in _PREFILL_MS:
            for share in _DECODE_SHARES:
                turn_ms = prefill_ms * (1 + share)
                counts = [
                    max(1, round(ms * 1000 / us))
                    for ms, us in zip((prefill_ms, prefill_ms * share), once_us)
                ]
                us = _turns(prefill, decode, counts, max(2, round(2500 / turn_ms))) / _CALLS
                run = f"{prefill_ms}ms:{prefill_ms * share}ms"
                sizes = (n, k, 2048)
                yield ("gemm", format_name, *sizes, run, *_figures(us, 2 * n * k * 2048))


def _turns(
    prefill: Callable[[], object], decode: Callable[[], object], counts: list[int], turns: int
) -> float:
    """The mean time of a prefill replay in µs, over the second half of the turns."""
    found = []
    for _ in range(turns):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(counts[0]):
            prefill()
        end.record()
        for _ in range(counts[1]):
            decode()
        torch.cuda.synchronize()
        found.append(start.elapsed_time(end) * 1000 / counts[0])
    return mean(found[len(found) // 2 :])


def _attention(device: str) -> Iterator[tuple]:
    for heads, kv_heads in ((32, 8), (64, 8)):
        for prompts, length in _PROMPTS:
            q, k, v = (
                torch.randn(prompts, length, count, 128, device=device, dtype=torch.bfloat16)
                for count in (heads, kv_heads, kv_heads)
            )
            prefill_attention(q, k, v)
            flops = 2 * prompts * length * length * heads * 128

            def call(q=q, k=k, v=v) -> object:
                return [prefill_attention(q, k, v) for _ in range(_CALLS)]

            sizes = (heads, kv_heads, f"{prompts}x{length}")
            yield from _both("prefill_attention", "bf16", sizes, call, flops)


def _figures(us: float, flops: int) -> tuple[str, str, str, str]:
    return (f"{us:.5g}", f"{flops / us / 1e6:.4g}", *_clock_and_watts())


def _clock_and_watts() -> tuple[str, str]:
    try:
        return str(torch.cuda.clock_rate()), f"{torch.cuda.power_draw() / 1000:.0f}"
    except (ImportError, ModuleNotFoundError, RuntimeError, AttributeError):
        return "", ""
