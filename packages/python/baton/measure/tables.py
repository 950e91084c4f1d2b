"""Operator tables in the format of Baton's ``data/operators``."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Callable

import torch

from .kernels import Linear, decode_attention, prefill_attention
from .shapes import Shapes
from .timing import durations_us

_ROWS = (1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192)
_PROMPTS = ((1, 16), (1, 64), (1, 256), (4, 256), (1, 512), (1, 1024), (4, 1024), (1, 2048))
_PROMPTS += ((2, 2048), (1, 4096), (1, 8192))
_SEQS = (1, 4, 16, 64, 128, 256)
_CONTEXTS = (128, 512, 1024, 2048, 4096, 8192)
# Weights rotate over this much memory, so that they come from memory and not from the L2 cache
# (50 to 60 MB on Hopper).
_ROTATED_BYTES = 256 << 20

Point = tuple[tuple[int, ...], Callable[[], object], int]


class Tables:
    """Writes ``<folder>/<operator>.csv``, a row per measurement, until ``deadline``."""

    def __init__(self, folder: Path, *, repeats: int, deadline: float):
        self.folder, self.repeats, self.deadline = folder, repeats, deadline
        self.left_out = 0

    def write(self, operator: str, columns: str, points: Iterator[Point]) -> None:
        """A point is its key, a call, and how many operators the call runs."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / f"{operator}.csv", "w", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow((*columns.split(","), "us"))
            for key, call, count in points:
                if monotonic() > self.deadline:
                    self.left_out += 1
                    continue
                for us in durations_us(call, repeats=self.repeats, max_seconds=0.2):
                    rows.writerow((*key, f"{us / count:.4g}"))


def write_tables(
    tables: Tables, shapes: Shapes, is_fp8: bool, max_tokens: int, device: str
) -> None:
    """The products of a layer, and attention of prompts and of decoding sequences."""
    format_name = "fp8" if is_fp8 else "bf16"
    gemm = _gemm_points(shapes, is_fp8, max_tokens, device)
    tables.write(f"gemm.{format_name}", "n,k,m", gemm)
    heads = "head_dim,window_size,num_key_value_heads,num_heads"
    prefill = _prefill_points(shapes, max_tokens, device)
    tables.write("context_attention.bf16_kvbf16", f"{heads},isl,batch_size", prefill)
    decode = _decode_points(shapes, max_tokens * 32, device)
    tables.write("generation_attention.kvbf16", f"{heads},batch_size,kv_len", decode)


def _gemm_points(shapes: Shapes, is_fp8: bool, max_tokens: int, device: str) -> Iterator[Point]:
    for n, k in dict.fromkeys(shapes.matrices().values()):
        copies = max(1, min(16, _ROTATED_BYTES // (n * k * (1 if is_fp8 else 2))))
        weights = [Linear(n, k, is_fp8, device) for _ in range(copies)]
        for m in _ROWS:
            if m <= max_tokens:
                x = torch.randn(m, k, device=device, dtype=torch.bfloat16)
                yield (n, k, m), _each(weights, x), copies


def _each(weights: list[Linear], x: torch.Tensor) -> Callable[[], object]:
    return lambda: [weight(x) for weight in weights]


def _prefill_points(shapes: Shapes, max_tokens: int, device: str) -> Iterator[Point]:
    for prompts, length in _PROMPTS:
        if prompts * length <= max_tokens:
            q, k, v = (
                torch.randn(
                    prompts, length, n, shapes.head_dim, device=device, dtype=torch.bfloat16
                )
                for n in (shapes.heads, shapes.kv_heads, shapes.kv_heads)
            )
            call = _repeated(lambda q=q, k=k, v=v: prefill_attention(q, k, v))
            yield (*_heads(shapes), length, prompts), call, _CALLS


def _decode_points(shapes: Shapes, max_kv_tokens: int, device: str) -> Iterator[Point]:
    for seqs in _SEQS:
        for context in _CONTEXTS:
            if seqs * context <= max_kv_tokens:
                q = torch.randn(
                    seqs, shapes.heads, shapes.head_dim, device=device, dtype=torch.bfloat16
                )
                k, v = (
                    torch.randn(
                        *(seqs, context, shapes.kv_heads, shapes.head_dim),
                        device=device,
                        dtype=torch.bfloat16,
                    )
                    for _ in range(2)
                )
                call = _repeated(lambda q=q, k=k, v=v: decode_attention(q, k, v))
                yield (*_heads(shapes), seqs, context), call, _CALLS


_CALLS = 8


def _repeated(call: Callable[[], object]) -> Callable[[], object]:
    return lambda: [call() for _ in range(_CALLS)]


def _heads(shapes: Shapes) -> tuple[int, int, int, int]:
    return (shapes.head_dim, 0, shapes.kv_heads, shapes.heads)
