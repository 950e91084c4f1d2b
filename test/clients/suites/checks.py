"""Runs the checks of a suite against the server that CLIENTS_URL names."""

import inspect
import asyncio
import json
import os
import urllib.request

URL = os.environ["CLIENTS_URL"]
BASE_URL = f"{URL}/v1"
KEY = "any"


def _served() -> str:
    with urllib.request.urlopen(f"{BASE_URL}/models") as answer:
        return json.load(answer)["data"][0]["id"]


MODEL = _served()
QUESTION = "What is the weather in Paris?"
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def run_all(checks) -> None:
    """Prints a line per check, then `N passed, N failed`; exits with 1 where one has failed."""
    failed = 0
    for check in checks:
        name = check.__name__.replace("_", " ")
        try:
            result = check()
            if inspect.isawaitable(result):
                asyncio.run(result)
        except Exception as error:  # Whatever a client raises is the finding.
            failed += 1
            print(f"FAILED  {name}: {type(error).__name__}: {str(error)[:400]}")
        else:
            print(f"ok  {name}")
    print(f"{len(checks) - failed} passed, {failed} failed")
    raise SystemExit(1 if failed else 0)
