"""Runs the command line: keyword arguments become flags, and its sentences become errors."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass

_SAID = "baton: "


class BatonError(Exception):
    """An error of the command line, in one sentence.

    ``exit_code`` is 2 for wrong usage and unreadable input, and 1 for everything else.
    """

    def __init__(self, sentence: str, exit_code: int = 1):
        super().__init__(sentence)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Answer:
    """A command line that succeeded: its JSON document, and its notes as sentences."""

    command: list[str]
    document: dict
    notes: list[str]


def run(name: str, flags: dict, baton_bin: str | None) -> Answer:
    """Runs one command with ``--json``."""
    command = [program_path(baton_bin), name, "--json", *arguments(flags)]
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as error:
        raise cannot_run(command, error) from error
    if ended.returncode != 0:
        raise failure(ended.stderr, ended.returncode)
    try:
        return Answer(command, json.loads(ended.stdout), _notes(ended.stderr))
    except json.JSONDecodeError as error:
        raise BatonError(f"baton {name} answers with no JSON document here.") from error


def cannot_run(command: list[str], error: OSError) -> BatonError:
    """The error of a program that is missing or not executable."""
    return BatonError(f"{command[0]} cannot be run: {error.strerror}.")


def failure(stderr: str, exit_code: int) -> BatonError:
    """The error of a failed command line, from its stderr."""
    notes = _notes(stderr)
    return BatonError(notes[-1] if notes else stderr.strip() or "it says nothing", exit_code)


def _notes(stderr: str) -> list[str]:
    said = stderr.strip().splitlines()
    return [line.removeprefix(_SAID) for line in said if line.startswith(_SAID)]


def arguments(flags: dict) -> list[str]:
    """``rate_scale=2, leap=False, tp=[1, 2]`` as ``--rate-scale=2 --no-leap --tp=1,2``."""
    given = {name: value for name, value in flags.items() if value is not None}
    return [_argument(name.replace("_", "-"), value) for name, value in given.items()]


def _argument(flag: str, value: object) -> str:
    if isinstance(value, bool):
        return f"--{flag}" if value else f"--no-{flag}"
    return f"--{flag}={_text(value)}"


def _text(value: object) -> str:
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, value))
    return str(value)


def program_path(given: str | None) -> str:
    """The given program, else that of BATON_BIN, else the one on PATH."""
    found = given or os.environ.get("BATON_BIN") or shutil.which("baton")
    if found is None:
        places = "pass baton_bin, set BATON_BIN, or put bin/ on the PATH"
        raise BatonError(f"There is no baton here: {places}.")
    return os.fspath(found)
