"""Kernels of a step: PyTorch's matrix products and attention, and fused elementwise parts."""

from __future__ import annotations

import warnings
from functools import wraps
from typing import Callable

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right

from .timing import eager_us

FP8 = torch.float8_e4m3fn
_FP8_MAX = 448.0
_BACKENDS = (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.EFFICIENT_ATTENTION)
_fastest: dict[tuple, SDPBackend | None] = {}

torch._dynamo.config.recompile_limit = 64


def fused(call: Callable) -> Callable:
    """Compiles elementwise code for any number of tokens and fixed widths."""
    compiled = torch.compile(call, dynamic=False)

    @wraps(call)
    def run(*tensors: torch.Tensor | None):
        for tensor in tensors:
            if tensor is not None and tensor.dim() > 1:
                torch._dynamo.maybe_mark_dynamic(tensor, 0)
        return compiled(*tensors)

    return run


class Linear:
    """A matrix product in BF16, or in FP8 with a scale per token and per output channel."""

    def __init__(self, n: int, k: int, is_fp8: bool, device: str):
        weight = torch.empty(n, k, device=device, dtype=torch.bfloat16).normal_(std=0.02)
        self.weight = weight.to(FP8) if is_fp8 else weight
        self.scale = torch.ones(1, n, device=device) if is_fp8 else None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if self.scale is None:
            return F.linear(x, self.weight)
        quantised, scale = _quantised(x)
        return torch._scaled_mm(
            quantised, self.weight.t(), scale, self.scale, out_dtype=torch.bfloat16
        )


@fused
def _quantised(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scale = x.abs().amax(-1, keepdim=True).float().clamp(min=1e-6) / _FP8_MAX
    return (x.float() / scale).to(FP8), scale


@fused
def add_norm(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor):
    """RMS norm of the sum, and the sum."""
    total = (x.float() + residual.float())
    normed = total * torch.rsqrt(total.pow(2).mean(-1, keepdim=True) + 1e-6)
    return normed.to(x.dtype) * weight, total.to(x.dtype)


@fused
def gated(x: torch.Tensor) -> torch.Tensor:
    """SiLU of the first half times the second."""
    half = x.shape[-1] // 2
    return F.silu(x[:, :half].float()).to(x.dtype) * x[:, half:]


@fused
def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, norm: torch.Tensor | None):
    """Rotary positions of ``x`` [tokens, heads, d], after a norm per head where one is given."""
    wide = x.float()
    if norm is not None:
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6) * norm
    left, right = wide.chunk(2, -1)
    return torch.cat((left * cos - right * sin, right * cos + left * sin), -1).to(x.dtype)


def decode_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """One query per sequence: q [seqs, heads, d]; k, v [seqs, context, kv_heads, d].

    The heads that share a KV head become the rows of one product, as in flash decoding.
    """
    seqs, heads, dim = q.shape
    grouped = q.view(seqs, k.shape[2], heads // k.shape[2], dim)
    keys, values = k.transpose(1, 2), v.transpose(1, 2)
    found = _by_fastest(
        lambda: F.scaled_dot_product_attention(grouped, keys, values),
        ("decode", *q.shape, *k.shape),
    )
    return found.reshape(seqs, heads * dim)


def prefill_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Causal: q [prompts, new, heads, d]; k, v [prompts, cached + new, kv_heads, d]."""
    prompts, new, heads, dim = q.shape
    length = k.shape[1]
    queries, keys, values = (x.transpose(1, 2) for x in (q, k, v))
    mask = None if new == length else causal_lower_right(new, length)

    def attend() -> torch.Tensor:
        return F.scaled_dot_product_attention(
            queries, keys, values, attn_mask=mask, is_causal=mask is None, enable_gqa=True
        )

    found = _by_fastest(attend, ("prefill", *q.shape, *k.shape))
    return found.transpose(1, 2).reshape(prompts * new, heads * dim)


def _by_fastest(attend: Callable[[], torch.Tensor], shape: tuple) -> torch.Tensor:
    """Calls the backend that is fastest for this shape. The first call of a shape tries all."""
    if shape not in _fastest:
        _fastest[shape] = _find_fastest(attend) if torch.cuda.is_available() else None
    backend = _fastest[shape]
    if backend is None:
        return attend()
    with sdpa_kernel(backend):
        return attend()


def _find_fastest(attend: Callable[[], torch.Tensor]) -> SDPBackend:
    times: dict[SDPBackend, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a backend without a kernel for the shape says why
        for backend in _BACKENDS:
            try:
                with sdpa_kernel(backend):
                    times[backend] = eager_us(attend)
            except RuntimeError:
                continue
    return min(times, key=times.__getitem__, default=SDPBackend.MATH)
