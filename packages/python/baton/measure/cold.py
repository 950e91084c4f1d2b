"""Kernels whose weights or KV come from memory, beside the same kernels with a warm L2 cache.

A call timed in a loop finds a small matrix in the L2 cache. In an engine the other layers come in
between, so each layer reads its matrices from memory.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain, cycle, islice
from pathlib import Path
from statistics import median
from typing import Callable

import torch
import torch.nn.functional as F

from .kernels import FP8, add_norm, decode_attention, gated
from .timing import durations_us

_CALLS = 16
# Copies of a matrix together take at least five times the L2 cache of a Hopper GPU (50 to 60 MB).
_ROTATED_BYTES = 300 << 20
_COPIES_MAX = 256
_REPEATS = 9

_MATRICES = (
    *((1280, 8192), (8192, 1024), (7168, 8192), (8192, 3584)),  # Llama 70B, TP 8
    *((2560, 8192), (8192, 2048), (14336, 8192), (8192, 7168)),  # TP 4
    *((10240, 8192), (8192, 8192), (57344, 8192), (8192, 28672)),  # TP 1
    *((6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336)),  # Llama 8B
    *((10240, 5120), (5120, 8192), (51200, 5120), (5120, 25600)),  # Qwen3-32B
    *((5120, 5120), (5120, 4096), (25600, 5120), (5120, 12800)),  # TP 2
    *((5120, 2880), (2880, 4096), (1024, 1024), (2048, 2048), (512, 4096)),
)
_FORMATS = {"bf16": 2, "fp8": 1}
_TOKENS = (1, 8, 32, 128, 512, 2048)
_CACHES = ((32, 8), (8, 1), (64, 8))
_BATCHES = ((1, 512), (1, 2048), (1, 8192), (4, 2048), (16, 512), (16, 2048), (64, 256))
_WIDTHS = (2880, 4096, 8192)


def write_cold(file: Path, device: str) -> None:
    """A row per kernel: its sizes, the bytes it reads, and both times in µs (median of nine)."""
    with open(file, "w", newline="") as out, torch.no_grad():
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow("kernel,format,n,k,m,bytes,warm_us,cold_us".split(","))
        for row in chain(_products(device), _attention(device), _elementwise(device)):
            rows.writerow(row)
            out.flush()


def _products(device: str) -> Iterator[tuple]:
    for format_name, width in _FORMATS.items():
        for n, k in _MATRICES:
            copies = max(2, min(_COPIES_MAX, -(-_ROTATED_BYTES // (n * k * width))))
            weights = [weight_of(n, k, format_name, device) for _ in range(copies)]
            for m in _TOKENS:
                call = product(torch.randn(m, k, device=device, dtype=torch.bfloat16), format_name)
                times = _warm_and_cold(call, weights)
                yield ("gemm", format_name, n, k, m, n * k * width, *times)


def weight_of(n: int, k: int, format_name: str, device: str) -> torch.Tensor:
    weight = torch.randn(n, k, device=device, dtype=torch.bfloat16)
    return weight.to(FP8) if format_name == "fp8" else weight


def product(x: torch.Tensor, format_name: str) -> Callable[[torch.Tensor], torch.Tensor]:
    if format_name == "bf16":
        return lambda weight: F.linear(x, weight)
    quantised = x.to(FP8)
    of_tokens = torch.ones(x.shape[0], 1, device=x.device)

    def call(weight: torch.Tensor) -> torch.Tensor:
        of_channels = _ones(weight.shape[0], str(x.device))
        return torch._scaled_mm(
            quantised, weight.t(), of_tokens, of_channels, out_dtype=torch.bfloat16
        )

    return call


_kept: dict[int, torch.Tensor] = {}


def _ones(n: int, device: str) -> torch.Tensor:
    return _kept.setdefault(n, torch.ones(1, n, device=device))


def _attention(device: str) -> Iterator[tuple]:
    for heads, kv_heads in _CACHES:
        for seqs, context in _BATCHES:
            size = 2 * seqs * context * kv_heads * 128 * 2
            copies = max(2, min(_COPIES_MAX, -(-_ROTATED_BYTES // size)))
            caches = [
                torch.randn(2, seqs, context, kv_heads, 128, device=device, dtype=torch.bfloat16)
                for _ in range(copies)
            ]
            q = torch.randn(seqs, heads, 128, device=device, dtype=torch.bfloat16)
            times = _warm_and_cold(lambda kv, q=q: decode_attention(q, kv[0], kv[1]), caches)
            yield ("decode_attention", "bf16", heads, kv_heads, f"{seqs}x{context}", size, *times)


def _elementwise(device: str) -> Iterator[tuple]:
    for width in _WIDTHS:
        weight = torch.ones(width, device=device, dtype=torch.bfloat16)
        for m in (1, 16, 64, 256, 1024, 4096):
            x = torch.randn(m, width, device=device, dtype=torch.bfloat16)
            both = torch.randn(m, 2 * width, device=device, dtype=torch.bfloat16)
            for name, call, size in (
                ("add_norm", lambda _, x=x: add_norm(x, x, weight), 8 * m * width),
                ("gated", lambda _, both=both: gated(both), 6 * m * width),
            ):
                warm, _ = _warm_and_cold(call, [x])
                yield (name, "bf16", width, width, m, size, warm, "")


def _warm_and_cold(call: Callable[[torch.Tensor], object], sets: list) -> tuple[str, str]:
    warm = _us(call, sets[:1], _CALLS)
    return f"{warm:.4g}", f"{_us(call, sets, max(_CALLS, len(sets))):.4g}"


def _us(call: Callable[[torch.Tensor], object], sets: list, calls: int) -> float:
    def run() -> None:
        for one in islice(cycle(sets), calls):
            call(one)

    times = durations_us(run, repeats=_REPEATS, max_seconds=0.05)
    return median(times) / calls
