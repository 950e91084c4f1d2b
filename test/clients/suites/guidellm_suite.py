"""GuideLLM: one benchmark per endpoint, in which every request succeeds."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import MODEL, URL, run_all
from local_tokenizer import write_tokenizer

REQUESTS = 8
PROGRAM = Path(sys.executable).parent / "guidellm"
LOAD = [
    *["--profile", "kind=concurrent,streams=4"],
    *["--constraint", f"kind=max_requests,count={REQUESTS}"],
    *["--data", "kind=synthetic_text,prompt_tokens=64,output_tokens=16"],
    "--disable-console",
]


def metrics(path):
    """Those of a benchmark of this endpoint."""
    with tempfile.TemporaryDirectory() as folder:
        backend = f"kind=openai_http,target={URL},model={MODEL},request_format={path}"
        tokenizer = f"kind=hf_auto,model={write_tokenizer(folder)}"
        output = f"kind=json,path={folder}/report.json"
        command = [PROGRAM, "run", "--backend", backend, "--tokenizer", tokenizer, *LOAD]
        run = subprocess.run(
            [*command, "--output", output], capture_output=True, text=True, check=False
        )
        report = Path(folder, "report.json")
        assert report.exists(), (run.stdout + run.stderr)[-2_000:]
        (benchmark,) = json.loads(report.read_text())["benchmarks"]
    totals = benchmark["metrics"]["request_totals"]
    assert totals["successful"] == totals["total"] == REQUESTS, totals
    return benchmark["metrics"]


def mean(found, name):
    return found[name]["successful"]["mean"]


def chat():
    found = metrics("/v1/chat/completions")
    assert mean(found, "time_to_first_token_ms") > 0
    assert mean(found, "inter_token_latency_ms") > 0
    assert mean(found, "output_token_count") == 16


def completions():
    assert mean(metrics("/v1/completions"), "output_token_count") == 16


def responses():
    assert mean(metrics("/v1/responses"), "time_to_first_token_ms") > 0


run_all([chat, completions, responses])
