"""AIPerf: one run per endpoint, streamed and whole, in which every request counts."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import MODEL, URL, run_all
from local_tokenizer import write_tokenizer

REQUESTS = 8
PROGRAM = Path(sys.executable).parent / "aiperf"
SIZE = ["--isl", "64", "--osl", "16", "--request-count", str(REQUESTS), "--concurrency", "4"]
# With it AIPerf takes the folder of a tokenizer for a name on the hub.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}


def profile(endpoint, *options):
    """The report of a run."""
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = write_tokenizer(folder)
        where = ["--url", URL, "--model", MODEL, "--endpoint-type", endpoint]
        output = ["--artifact-dir", f"{folder}/out", "--ui", "none", "--tokenizer", tokenizer]
        command = [PROGRAM, "profile", *where, *output, *SIZE, *options]
        run = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
        reports = list(Path(folder, "out").glob("**/profile_export_aiperf.json"))
        assert reports, run.stdout[-2_000:]
        report = json.loads(reports[0].read_text())
    assert report["request_count"]["avg"] == REQUESTS, report
    assert not report.get("error_summary"), report["error_summary"]
    return report


def chat_streamed():
    report = profile("chat", "--streaming")
    assert report["time_to_first_token"]["avg"] > 0
    assert report["inter_token_latency"]["avg"] > 0


def chat():
    assert profile("chat")["request_latency"]["avg"] > 0


def completions_streamed():
    assert profile("completions", "--streaming")["time_to_first_token"]["avg"] > 0


def responses():
    assert profile("responses")["request_latency"]["avg"] > 0


def embeddings():
    assert profile("embeddings")["request_latency"]["avg"] > 0


run_all([chat_streamed, chat, completions_streamed, responses, embeddings])
