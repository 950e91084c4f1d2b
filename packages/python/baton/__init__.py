"""Replays and plans of Baton, a simulator of disaggregated LLM serving, as pandas data frames."""

from __future__ import annotations

import tempfile
from pathlib import Path

from .program import BatonError, run
from .results import Plan, Replay

__all__ = ["BatonError", "Plan", "Replay", "plan", "replay"]


def replay(*, baton_bin: str | None = None, out: str | Path | None = None, **flags) -> Replay:
    """Runs a workload through a simulated cluster in virtual time: ``baton replay``.

    Keyword arguments are the flags with underscores, ``trace="azure-conv-2023"`` or
    ``rate_scale=2``; True and False switch a flag on and off, and None leaves it out.

    ``baton_bin`` is the program, by default what BATON_BIN names, or ``baton`` on the PATH.
    ``out`` keeps the files of the result in that folder. Raises BatonError.
    """
    with tempfile.TemporaryDirectory(prefix="baton-") as own:
        folder = Path(own if out is None else out)
        answer = run("replay", {**flags, "out": folder}, baton_bin)
        return Replay(answer, folder / "requests.csv")


def plan(*, baton_bin: str | None = None, **flags) -> Plan:
    """Searches the split or the fleet that serves a workload best: ``baton plan``.

    Arguments are as those of ``replay``. Raises BatonError, also where no split keeps the SLO.
    """
    return Plan(run("plan", flags, baton_bin))
