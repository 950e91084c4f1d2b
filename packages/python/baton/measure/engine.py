"""A transformer with random weights that takes one engine step at a time."""

from __future__ import annotations

import torch

from .batches import Batch
from .kernels import Linear, add_norm, decode_attention, gated, prefill_attention, rotated
from .shapes import Shapes

_ROTARY_BASE = 500_000.0


class Layer:
    """Weights and KV cache of one layer."""

    def __init__(self, shapes: Shapes, kv_tokens: int, is_fp8: bool, device: str):
        for name, (n, k) in shapes.matrices().items():
            setattr(self, name, Linear(n, k, is_fp8, device))
        of_heads = (kv_tokens, shapes.kv_heads, shapes.head_dim)
        self.keys = torch.randn(of_heads, device=device, dtype=torch.bfloat16)
        self.values = torch.randn(of_heads, device=device, dtype=torch.bfloat16)
        self.norms = torch.ones(2, shapes.hidden, device=device, dtype=torch.bfloat16)
        has_norms = shapes.has_head_norms
        self.head_norm = torch.ones(shapes.head_dim, device=device) if has_norms else None


class Engine:
    """``step`` computes a batch as an engine does: one product per matrix for all its tokens,
    attention for prompts and decoding sequences apart, the output head for one row of each."""

    def __init__(self, shapes: Shapes, kv_tokens: int, is_fp8: bool, device: str):
        self.shapes = shapes
        self.device = device
        self.layers = [Layer(shapes, kv_tokens, is_fp8, device) for _ in range(shapes.layers)]
        self.embedding = torch.randn(
            shapes.vocab, shapes.hidden, device=device, dtype=torch.bfloat16
        )
        self.head = Linear(shapes.vocab, shapes.hidden, False, device)
        self.norm = torch.ones(shapes.hidden, device=device, dtype=torch.bfloat16)

    def step(self, batch: Batch) -> "Step":
        return Step(self, batch)


class Step:
    """One batch; calling it computes the batch."""

    def __init__(self, engine: Engine, batch: Batch):
        self.engine, self.batch = engine, batch
        device, shapes = engine.device, engine.shapes
        self.ids = torch.randint(shapes.vocab, (batch.tokens,), device=device)
        self.slots, positions, self.rows = _places(batch, device)
        powers = torch.arange(0, shapes.head_dim, 2, device=device) / shapes.head_dim
        angles = positions[:, None, None] * _ROTARY_BASE**-powers
        self.cos, self.sin = angles.cos(), angles.sin()

    def __call__(self) -> torch.Tensor:
        x = self.engine.embedding[self.ids]
        residual = torch.zeros_like(x)
        for layer in self.engine.layers:
            x, residual = add_norm(x, residual, layer.norms[0])
            x = layer.output(self._attended(layer, layer.qkv(x)))
            x, residual = add_norm(x, residual, layer.norms[1])
            x = layer.down(gated(layer.gate_up(x)))
        x, _ = add_norm(x[self.rows], residual[self.rows], self.engine.norm)
        return self.engine.head(x).argmax(-1)

    def _attended(self, layer: Layer, qkv: torch.Tensor) -> torch.Tensor:
        shapes, batch = self.engine.shapes, self.batch
        heads = qkv.view(batch.tokens, -1, shapes.head_dim)
        q, k, v = heads.split((shapes.heads, shapes.kv_heads, shapes.kv_heads), 1)
        q = rotated(q, self.cos, self.sin, layer.head_norm)
        layer.keys.index_copy_(0, self.slots, rotated(k, self.cos, self.sin, layer.head_norm))
        layer.values.index_copy_(0, self.slots, v)
        split = batch.prompts * batch.new
        parts = []
        if split:
            parts.append(self._prompts(layer, q[:split]))
        if batch.seqs:
            parts.append(self._decoding(layer, q[split:]))
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _prompts(self, layer: Layer, q: torch.Tensor) -> torch.Tensor:
        batch = self.batch
        length = batch.cached + batch.new
        shape = (batch.prompts, length, *layer.keys.shape[1:])
        k, v = (x[: batch.prompts * length].view(shape) for x in (layer.keys, layer.values))
        return prefill_attention(q.view(batch.prompts, batch.new, *q.shape[1:]), k, v)

    def _decoding(self, layer: Layer, q: torch.Tensor) -> torch.Tensor:
        batch = self.batch
        first = batch.prompts * (batch.cached + batch.new)
        shape = (batch.seqs, batch.context, *layer.keys.shape[1:])
        rows = slice(first, first + batch.seqs * batch.context)
        return decode_attention(q, *(x[rows].view(shape) for x in (layer.keys, layer.values)))


def _places(batch: Batch, device: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Per new token its slot in the KV cache and its position, and the rows that get a token."""
    length = batch.cached + batch.new
    prompts = torch.arange(batch.prompts)[:, None] * length
    of_prompts = (prompts + torch.arange(batch.cached, length)).flatten()
    first = batch.prompts * length
    of_seqs = first + torch.arange(1, batch.seqs + 1) * batch.context - 1
    positions = torch.cat(
        (
            torch.arange(batch.cached, length).repeat(batch.prompts),
            torch.full((batch.seqs,), batch.context - 1),
        )
    )
    ends = torch.arange(1, batch.prompts + 1) * batch.new - 1
    rows = torch.cat((ends, batch.prompts * batch.new + torch.arange(batch.seqs)))
    return (
        torch.cat((of_prompts, of_seqs)).to(device),
        positions.to(device=device, dtype=torch.float32),
        rows.to(device),
    )
