"""Measures what vLLM's API server takes beside the engine: latency, and processor time.

    python3 bench/vllm-front-end/measure.py --vllm VENV/bin/vllm --out FOLDER

The server is real; the model is one small layer with random weights on the CPU, and the tokenizer
is a byte-level BPE trained on the sources of Python's standard library. vLLM's own metrics say how
long a request was in the engine (queue and prefill); the rest of the client's time to first token
is the front end. Processor time is that of the API server's process and its threads.
"""

import argparse
import concurrent.futures
import csv
import http.client
import json
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import sysconfig
import time

LAYER = dict(hidden_size=128, intermediate_size=256, num_hidden_layers=1)
HEADS = dict(num_attention_heads=2, num_key_value_heads=2, head_dim=64)
VOCABULARY = 32_000
LONGEST = 16_384
START_S = 300
TICKS = os.sysconf("SC_CLK_TCK")
TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>"


def sources():
    """Texts of the standard library, the same on every machine with this Python."""
    folder = pathlib.Path(sysconfig.get_paths()["stdlib"])
    return [path.read_text(errors="ignore") for path in sorted(folder.glob("*.py"))]


def write_model(folder, texts):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "</s>", "<|user|>", "<|assistant|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=special, initial_alphabet=alphabet
    )
    tokenizer.train_from_iterator(texts, trainer)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = dict(
        tokenizer_class="PreTrainedTokenizerFast", bos_token="<s>", eos_token="</s>",
        chat_template=TEMPLATE, model_max_length=LONGEST,
    )
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    config = dict(
        architectures=["LlamaForCausalLM"], model_type="llama", torch_dtype="bfloat16",
        vocab_size=VOCABULARY, max_position_embeddings=LONGEST, rms_norm_eps=1e-5,
        rope_theta=10_000.0, hidden_act="silu", bos_token_id=0, eos_token_id=1,
        tie_word_embeddings=True, **LAYER, **HEADS,
    )
    (folder / "config.json").write_text(json.dumps(config))


class Server:
    def __init__(self, vllm, model, port, log):
        command = [
            vllm, "serve", str(model), "--served-model-name", "m", "--load-format", "dummy",
            "--host", "127.0.0.1", "--port", str(port), "--max-model-len", str(LONGEST),
            "--enforce-eager", "--no-enable-prefix-caching", "--max-num-seqs", "64",
            "--max-num-batched-tokens", str(LONGEST), "--disable-uvicorn-access-log",
        ]
        env = dict(os.environ, VLLM_CPU_KVCACHE_SPACE="1", HF_HUB_OFFLINE="1",
                   VLLM_NO_USAGE_STATS="1")
        self.port = port
        self.process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        deadline = time.monotonic() + START_S
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("vLLM did not start; see the log.")
            time.sleep(0.5)

    def answers(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def engine_s(self):
        """Seconds of all requests so far in the engine, before their first token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        names = ("request_queue_time_seconds", "request_prefill_time_seconds")
        sums = [re.search(rf"^vllm:{name}_sum\{{.*\}} (\S+)$", text, re.M) for name in names]
        return sum(float(found.group(1)) for found in sums)

    def cpu_s(self):
        """Processor time of the API server, without the engine's process."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1]
        user, system = fields.split()[11:13]
        return (int(user) + int(system)) / TICKS

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


class Client:
    """One kept connection, one streamed request at a time."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def ask(self, prompt, max_tokens):
        """Time to first token in s, and the prompt tokens that the server counted."""
        body = json.dumps(dict(
            model="m", stream=True, max_tokens=max_tokens, min_tokens=max_tokens,
            ignore_eos=True, temperature=0, stream_options={"include_usage": True},
            messages=[dict(role="user", content=prompt)],
        ))
        start = time.perf_counter()
        headers = {"content-type": "application/json"}
        self.connection.request("POST", "/v1/chat/completions", body, headers)
        answer = self.connection.getresponse()
        first = None
        tokens = 0
        while line := answer.readline():
            if not line.startswith(b"data: {"):
                continue
            event = json.loads(line[6:])
            if "error" in event or answer.status != 200:
                raise SystemExit(f"vLLM answered {answer.status}: {event}")
            if first is None and event["choices"] and event["choices"][0].get("token_ids") != []:
                delta = event["choices"][0]["delta"]
                if "role" not in delta or delta.get("content"):
                    first = time.perf_counter() - start
            if event.get("usage"):
                tokens = event["usage"]["prompt_tokens"]
        return first, tokens


def prompt_of(texts, words, rng):
    text = rng.choice([each for each in texts if len(each.split()) > words])
    parts = re.findall(r"\s*\S+", text)
    start = rng.randrange(len(parts) - words + 1)
    return "".join(parts[start : start + words])


def measure(server, texts, words, tries, max_tokens, rng):
    client = Client(server.port)
    for _ in range(5):
        client.ask(prompt_of(texts, words, rng), max_tokens)
    rows = []
    cpu_before = server.cpu_s()
    for _ in range(tries):
        before = server.engine_s()
        first, tokens = client.ask(prompt_of(texts, words, rng), max_tokens)
        rows.append((tokens, first, server.engine_s() - before))
    scrape_start = server.cpu_s()
    for _ in range(tries):
        server.engine_s()
        server.engine_s()
    scrapes_s = server.cpu_s() - scrape_start
    cpu_s = (scrape_start - cpu_before - scrapes_s) / tries
    front = [first - engine for _, first, engine in rows]
    return dict(
        clients=1,
        prompt_tokens=round(statistics.mean(tokens for tokens, _, _ in rows)),
        output_tokens=max_tokens,
        requests=tries,
        ttft_p50_ms=round(1e3 * statistics.median(first for _, first, _ in rows), 3),
        engine_p50_ms=round(1e3 * statistics.median(engine for _, _, engine in rows), 3),
        front_end_p50_ms=round(1e3 * statistics.median(front), 3),
        front_end_p95_ms=round(1e3 * sorted(front)[int(0.95 * len(front))], 3),
        api_server_cpu_ms=round(1e3 * cpu_s, 3),
    )


def measure_together(server, texts, words, clients, max_tokens, rng):
    """Processor time alone, of one request of each client at the same time."""
    prompts = [prompt_of(texts, words, rng) for _ in range(clients)]
    pool = concurrent.futures.ThreadPoolExecutor(clients)
    own = [Client(server.port) for _ in range(clients)]
    ask = lambda client, prompt: client.ask(prompt, max_tokens)
    list(pool.map(ask, own, prompts))
    before = server.cpu_s()
    rounds = 3
    counts = [tokens for _ in range(rounds) for _, tokens in pool.map(ask, own, prompts)]
    return dict(
        clients=clients,
        prompt_tokens=round(statistics.mean(counts)),
        output_tokens=max_tokens,
        requests=len(counts),
        api_server_cpu_ms=round(1e3 * (server.cpu_s() - before) / len(counts), 3),
    )


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--vllm", required=True, help="program of the vLLM to measure")
    options.add_argument("--out", required=True, type=pathlib.Path, help="folder of the results")
    options.add_argument("--port", type=int, default=8123, help="port of its server")
    options.add_argument("--tries", type=int, default=60, help="requests of each length")
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    texts = sources()
    model = given.out / "model"
    write_model(model, texts)
    rng = random.Random(1)
    with open(given.out / "server.log", "w") as log:
        server = Server(given.vllm, model, given.port, log)
        try:
            shapes = [(n, 1) for n in (8, 60, 120, 250, 500, 1_000, 2_000)] + [(60, 64), (60, 256)]
            rows = []
            for words, max_tokens in shapes:
                rows.append(measure(server, texts, words, given.tries, max_tokens, rng))
                print(rows[-1], file=sys.stderr)
            for clients in (8, 32):
                rows.append(measure_together(server, texts, 60, clients, 256, rng))
                print(rows[-1], file=sys.stderr)
        finally:
            server.stop()
    with open(given.out / "front-end.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


main()
