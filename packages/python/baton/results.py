"""The results of the commands, as data frames."""

from __future__ import annotations

import shlex
from pathlib import Path

import pandas as pd

from .program import Answer

#: The list of candidates in the document of a plan, of ``--space`` and of ``--autoscalers``.
_CANDIDATES = ("splits", "fleets", "trials")


class Result:
    """A finished command line, and its JSON document."""

    def __init__(self, answer: Answer):
        #: The command line, as a shell reads it.
        self.command: str = shlex.join(answer.command)
        #: The JSON document, with the names of docs/replay.md and docs/planning.md.
        self.summary: dict = answer.document
        #: Notes of Baton, as sentences.
        self.notes: list[str] = answer.notes


class Replay(Result):
    """The result of ``baton replay``."""

    def __init__(self, answer: Answer, requests: Path):
        super().__init__(answer)
        #: A row per request: the columns of requests.csv, instants in µs, latencies in ms.
        self.requests: pd.DataFrame = pd.read_csv(requests, index_col="request")
        #: A row per engine.
        self.engines: pd.DataFrame = _frame(self.summary["engines"])

    def __repr__(self) -> str:
        return f"<Replay of {len(self.requests)} requests on {len(self.engines)} engines>"


class Plan(Result):
    """The result of ``baton plan``."""

    def __init__(self, answer: Answer):
        super().__init__(answer)
        candidates = next((self.summary[name] for name in _CANDIDATES if name in self.summary), [])
        #: A row per split, fleet or autoscaler; nested figures as columns such as ttft_ms_p90.
        self.splits: pd.DataFrame = _frame(candidates)
        #: The splits that no other beats, at several loads; empty where the plan has none.
        self.frontier: pd.DataFrame = _frame(self.summary.get("frontier", []))

    @property
    def winner(self) -> str | None:
        """The name of the best split; None where several fleets stand side by side."""
        best = self.summary.get("winner")
        return None if best is None else best["name"]

    def __repr__(self) -> str:
        return f"<Plan of {len(self.splits)} candidates, winner: {self.winner}>"


def _frame(rows: list[dict]) -> pd.DataFrame:
    return pd.json_normalize(rows, sep="_")
