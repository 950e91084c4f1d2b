"""The sizes of a dense model on one GPU, from its Hugging Face config.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ..program import BatonError

_OF_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")
_NEEDED = (
    "hidden_size",
    "intermediate_size",
    "num_attention_heads",
    "num_hidden_layers",
    "vocab_size",
)


@dataclass(frozen=True)
class Shapes:
    """Sizes of one tensor-parallel rank; ``hidden`` and ``layers`` are those of the model."""

    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    layers: int
    vocab: int
    has_head_norms: bool

    def matrices(self) -> dict[str, tuple[int, int]]:
        """(n, k) of the matrix products of a layer: ``y[m, n] = x[m, k] W[k, n]``."""
        attended = self.heads * self.head_dim
        return {
            "qkv": (attended + 2 * self.kv_heads * self.head_dim, self.hidden),
            "output": (self.hidden, attended),
            "gate_up": (2 * self.intermediate, self.hidden),
            "down": (self.hidden, self.intermediate),
        }


def read_shapes(path: Path, tp: int) -> Shapes:
    """Raises BatonError for a file without the fields of a dense model."""
    config = _config(path)
    if any(config.get(name) for name in (*_OF_EXPERTS, "kv_lora_rank")):
        why = "has experts or latent attention. Only dense models are measured."
        raise BatonError(f"{path} {why}", 2)
    missing = [name for name in _NEEDED if not isinstance(config.get(name), int)]
    if missing:
        raise BatonError(f"{path} has no {', '.join(missing)}.", 2)
    heads = config["num_attention_heads"]
    kv_heads = config.get("num_key_value_heads") or heads
    if heads % tp or config["intermediate_size"] % tp or (kv_heads % tp and tp % kv_heads):
        raise BatonError(f"--tp {tp} does not divide the {heads} heads of {path}.", 2)
    return Shapes(
        hidden=config["hidden_size"],
        intermediate=config["intermediate_size"] // tp,
        heads=heads // tp,
        kv_heads=max(1, kv_heads // tp),
        head_dim=config.get("head_dim") or config["hidden_size"] // heads,
        layers=config["num_hidden_layers"],
        vocab=config["vocab_size"] // tp,
        has_head_norms=str(config.get("model_type", "")).startswith("qwen3"),
    )


def _config(path: Path) -> dict:
    file = path / "config.json" if path.is_dir() else path
    try:
        config = json.loads(file.read_text())
    except OSError as error:
        raise BatonError(f"{file} cannot be read: {error.strerror}.", 2) from error
    except ValueError as error:
        raise BatonError(f"{file} is not JSON: {error}.", 2) from error
    if not isinstance(config, dict):
        raise BatonError(f"{file} is not a JSON object.", 2)
    return config
