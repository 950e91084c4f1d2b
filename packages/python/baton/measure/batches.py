"""The batches whose steps are measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Batch:
    """``prompts`` prompts of ``new`` tokens after ``cached`` each, beside ``seqs`` sequences that
    decode with ``context`` tokens each, the new one included."""

    prompts: int = 0
    new: int = 0
    cached: int = 0
    seqs: int = 0
    context: int = 0

    @property
    def tokens(self) -> int:
        return self.prompts * self.new + self.seqs

    @property
    def kv_tokens(self) -> int:
        """Tokens in the KV cache at the end of the step."""
        return self.prompts * (self.cached + self.new) + self.seqs * self.context

    def entry(self, ms: float) -> dict:
        """One line of the log that ``baton calibrate`` reads as ``baton-log``."""
        whole = (self.cached + self.new) ** 2 - self.cached**2
        return {
            "step_ms": round(ms, 4),
            "prefill_tokens": self.prompts * self.new,
            "prefill_seqs": self.prompts,
            "prefill_quadratic": self.prompts * whole,
            "prefill_context": self.prompts * self.cached,
            "decode_seqs": self.seqs,
            "decode_context": self.seqs * self.context,
        }


def batches(max_tokens: int, max_kv_tokens: int) -> list[Batch]:
    """Decode, prefill and mixed batches in turn, so that a run cut short has some of each."""
    kinds = [_decode(), _prefill(), _mixed()]
    turns = max(len(kind) for kind in kinds)
    ordered = [kind[turn] for turn in range(turns) for kind in kinds if turn < len(kind)]
    return [one for one in ordered if one.tokens <= max_tokens and one.kv_tokens <= max_kv_tokens]


def _decode() -> list[Batch]:
    seqs = (1, 16, 64, 4, 128, 32, 8, 256, 2, 24, 96, 200)
    contexts = (1024, 256, 4096, 2048, 512, 8192)
    return [Batch(seqs=s, context=c) for c in contexts for s in seqs]


def _prefill() -> list[Batch]:
    alone = [Batch(prompts=1, new=n) for n in (1024, 256, 4096, 64, 2048, 512, 8192, 128, 16, 700)]
    together = [Batch(prompts=b, new=n) for b, n in ((4, 512), (8, 128), (2, 2048), (4, 1024))]
    after = [Batch(1, n, p) for n, p in ((512, 4096), (2048, 2048), (1024, 8192), (256, 1024))]
    return alone + together + after


def _mixed() -> list[Batch]:
    prompts = ((512, 0), (2048, 0), (1024, 2048), (256, 0))
    decoding = ((64, 1024), (16, 2048), (128, 1024), (4, 4096))
    return [Batch(1, n, p, s, c) for s, c in decoding for n, p in prompts]
