"""A log of whole engine steps, one line per step."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import torch

from ..program import BatonError
from .batches import Batch, batches
from .engine import Engine
from .shapes import Shapes
from .timing import durations_us, eager_us

# The largest batch is 256 sequences of 4,096 tokens.
_KV_TOKENS_MAX = 1_100_000
_EAGER = (Batch(prompts=1, new=16), Batch(prompts=1, new=256), Batch(prompts=1, new=1024))


@dataclass
class StepLog:
    """Where the log goes, and how long it may take."""

    file: Path
    repeats: int
    deadline: float
    left_out: int = 0

    def write(self, shapes: Shapes, is_fp8: bool, max_tokens: int, device: str) -> list[dict]:
        """Writes the log. Returns steps that were launched kernel by kernel, without a graph."""
        kv_tokens = _kv_tokens(shapes, is_fp8, max_tokens, device)
        engine = Engine(shapes, kv_tokens, is_fp8, device)
        with open(self.file, "w") as log, torch.no_grad():
            for batch in batches(max_tokens, kv_tokens):
                if monotonic() > self.deadline:
                    self.left_out += 1
                    continue
                step = engine.step(batch)
                for us in durations_us(step, repeats=self.repeats, max_seconds=0.4):
                    log.write(json.dumps(batch.entry(us / 1000)) + "\n")
                log.flush()
            return [
                one.entry(eager_us(engine.step(one)) / 1000)
                for one in _EAGER
                if one.tokens <= max_tokens
            ]


def _kv_tokens(shapes: Shapes, is_fp8: bool, max_tokens: int, device: str) -> int:
    """Tokens whose KV fits beside the weights and the activations."""
    if device == "cpu":
        return 4 * max_tokens
    per_token = 2 * shapes.kv_heads * shapes.head_dim * 2 * shapes.layers
    products = sum(n * k for n, k in shapes.matrices().values()) * shapes.layers
    weights = products * (1 if is_fp8 else 2) + 4 * shapes.vocab * shapes.hidden
    activations = 16 * max_tokens * (shapes.hidden + 2 * shapes.intermediate)
    free, _ = torch.cuda.mem_get_info()
    tokens = min(_KV_TOKENS_MAX, int((0.85 * free - weights - activations) / per_token))
    if tokens < max_tokens:
        need = f"{weights / 2**30:.0f} GiB of weights and {activations / 2**30:.0f} of activations"
        raise BatonError(f"{need} do not fit in {free / 2**30:.0f} GiB of the GPU. Try --tp.")
    return tokens
