"""Tries the installed Python package on the command line that BATON_BIN names."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import baton
import pandas as pd
from baton.environments import DecodePlacementEnv, PlacementEnv, ScalingEnv, good_requests
from baton.measure.batches import batches
from baton.measure.shapes import read_shapes
from baton.program import arguments
from gymnasium.utils.env_checker import check_env

BIN = os.environ["BATON_BIN"]
FEW = {
    "dataset": "shared-prefix",
    "num_prompts": 40,
    "request_rate": 20,
    "topology": "1P2D",
    "slo": "ttft=200ms,tpot=20ms",
}
SMALL = {"dataset": "random", "num_prompts": 200, "random_input_len": 400, "gpus": 2, "tp": [1, 2]}
SMALL |= {"slo": "ttft=1s,tpot=50ms", "simulate": 2, "threads": 1}


def said_by(command: list[str]) -> dict:
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def without_wall(summary: dict) -> dict:
    wall = ("wall_seconds", "requests_per_wall_second")
    return {name: value for name, value in summary.items() if name not in wall}


class Flags(unittest.TestCase):
    def test_are_keyword_arguments_with_underscores(self):
        given = {"rate_scale": 2, "leap": False, "perfetto": True, "out": None, "tp": [1, 2]}
        expected = ["--rate-scale=2", "--no-leap", "--perfetto", "--tp=1,2"]
        self.assertEqual(arguments(given), expected)

    def test_that_are_tables_become_json(self):
        given = {"frontend": {"request_ms": 2}}
        self.assertEqual(arguments(given), ['--frontend={"request_ms": 2}'])


class AReplay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = baton.replay(**FEW)

    def test_has_the_summary_of_the_command_line(self):
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in FEW.items()]
        expected = said_by([BIN, "replay", "--json", *flags])
        self.assertEqual(without_wall(self.result.summary), without_wall(expected))

    def test_has_a_row_per_request_whose_figures_are_those_of_the_summary(self):
        requests, summary = self.result.requests, self.result.summary
        self.assertEqual(len(requests), summary["requests"])
        for latency in ("ttft_ms", "tpot_ms", "e2el_ms"):
            self.assertAlmostEqual(requests[latency].mean(), summary[latency]["mean"], places=3)
            quantile = requests[latency].quantile(0.9)
            self.assertAlmostEqual(quantile, summary[latency]["p90"], places=3)
        hits = requests["cached_tokens"].sum() / requests["prompt_tokens"].sum()
        self.assertAlmostEqual(hits, summary["prefix_hit_rate"], places=6)
        self.assertAlmostEqual(requests["meets_slo"].mean(), summary["slo_attainment"], places=6)

    def test_has_a_row_per_engine(self):
        engines = self.result.engines
        self.assertEqual(list(engines["role"]), ["prefill", "decode", "decode"])
        decodes = engines[engines["role"] == "decode"]
        self.assertEqual(decodes["finished"].sum(), self.result.summary["completed"])

    def test_keeps_its_files_where_a_folder_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = baton.replay(**FEW, out=folder)
            self.assertTrue({"summary.json", "report.html"} <= set(os.listdir(folder)))
            again = pd.read_csv(Path(folder) / "requests.csv", index_col="request")
            pd.testing.assert_frame_equal(kept.requests, again)

    def test_says_which_command_line_it_ran(self):
        self.assertTrue(self.result.command.startswith(f"{BIN} replay --json --dataset="))


class APlan(unittest.TestCase):
    def test_has_a_row_per_split_with_the_winner_first_in_goodput(self):
        found = baton.plan(**SMALL)
        splits = found.splits.set_index("name")
        self.assertEqual(found.winner, found.summary["winner"]["name"])
        self.assertEqual(set(splits.index), {each["name"] for each in found.summary["splits"]})
        best = found.summary["winner"]
        self.assertEqual(splits.loc[found.winner, "ttft_ms_p90"], best["ttft_ms"]["p90"])
        self.assertEqual(splits["goodput_rps"].max(), best["goodput_rps"])
        self.assertGreater(len(found.frontier), 0)


class AMeasurement(unittest.TestCase):
    """Without PyTorch: what is read and checked before it is needed."""

    LLAMA = {
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "num_hidden_layers": 32,
        "vocab_size": 128256,
    }

    def shapes_of(self, tp: int = 1, **fields):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "config.json")
            file.write_text(json.dumps({**self.LLAMA, **fields}))
            return read_shapes(Path(folder), tp)

    def test_has_the_matrices_of_one_rank(self):
        of_inputs = {"qkv": (768, 4096), "gate_up": (3584, 4096)}
        of_outputs = {"output": (4096, 512), "down": (4096, 1792)}
        self.assertEqual(self.shapes_of(tp=8).matrices(), {**of_inputs, **of_outputs})

    def test_refuses_what_it_cannot_measure_in_one_sentence(self):
        for fields, tp, sentence in (
            ({"num_local_experts": 8}, 1, "Only dense models are measured."),
            ({"vocab_size": None}, 1, "has no vocab_size."),
            ({}, 3, "does not divide the 32 heads"),
        ):
            with self.assertRaisesRegex(baton.BatonError, sentence):
                self.shapes_of(tp, **fields)

    def test_takes_batches_that_fit_with_some_of_each_kind_first(self):
        found = batches(2048, 100_000)
        self.assertTrue(all(one.tokens <= 2048 and one.kv_tokens <= 100_000 for one in found))
        kinds = {(one.prompts > 0, one.seqs > 0) for one in found[:3]}
        self.assertEqual(kinds, {(True, False), (False, True), (True, True)})

    def test_logs_steps_that_calibrate_reads(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "steps.jsonl")
            lines = [one.entry(5 + one.tokens / 100) for one in batches(8192, 500_000)]
            log.write_text("".join(json.dumps(line) + "\n" for line in lines))
            flags = ["--model", "llama-3.1-8b", "--gpu", "h100", "--fit", "factors"]
            printed = said_by([BIN, "calibrate", "--json", "--input", str(log), *flags])
            self.assertIn("factors", json.dumps(printed))

    def test_needs_pytorch_only_for_measuring(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "config.json").write_text(json.dumps(self.LLAMA))
            command = [sys.executable, "-m", "baton.measure", "--model", folder]
            ended = subprocess.run(
                [*command, "--out", f"{folder}/out", "--system", "own"],
                capture_output=True,
                text=True,
            )
        self.assertEqual(ended.stderr, "baton.measure: PyTorch is missing. Install torch.\n")
        self.assertEqual(ended.returncode, 1)

    def test_measures_long_runs_on_a_gpu_only(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "config.json").write_text(json.dumps(self.LLAMA))
            flags = ["--system", "own", "--parts", "long", "--device", "cpu"]
            ended = subprocess.run(
                [sys.executable, "-m", "baton.measure", "--model", folder, "--out", folder, *flags],
                capture_output=True,
                text=True,
            )
        self.assertEqual(ended.stderr, "baton.measure: --parts long needs a GPU.\n")
        self.assertEqual(ended.returncode, 2)


def episode(env, seed: int, choose) -> tuple[list, float, dict]:
    """The observations, the sum of the rewards and the summary of one episode."""
    seen, _info = env.reset(seed=seed)
    observations, rewards, is_over = [seen], 0.0, False
    while not is_over:
        seen, reward, is_over, _truncated, info = env.step(choose(seen))
        observations.append(seen)
        rewards += reward
    return observations, rewards, info["summary"]


class AnEnvironment(unittest.TestCase):
    def env_of(self, kind, **flags):
        env = kind(**{**FEW, **flags})
        self.addCleanup(env.close)
        return env

    def test_passes_the_checker_of_gymnasium(self):
        for env in (
            self.env_of(PlacementEnv, topology="3P2D"),
            self.env_of(DecodePlacementEnv),
            self.env_of(ScalingEnv, topology=None, max="3P3D", scale_interval=0.1),
        ):
            with warnings.catch_warnings():
                warnings.filterwarnings("error", category=UserWarning)
                # Queues have no greatest length.
                warnings.filterwarnings("ignore", ".*Box observation space maximum.*")
                check_env(env, skip_render_check=True)

    def test_gives_the_same_episode_for_the_same_seed_and_another_for_another(self):
        env = self.env_of(PlacementEnv, topology="3P2D")
        by_turns = lambda: (lambda _seen, turns=iter(range(40)): next(turns) % 3)
        first, again, other = (episode(env, seed, by_turns()) for seed in (5, 5, 6))
        self.assertEqual(len(first[0]), 41)
        for one, two in zip(first[0], again[0], strict=True):
            self.assertTrue((one == two).all())
        self.assertEqual(first[1:], again[1:])
        self.assertNotEqual(first[2]["ttft_ms"], other[2]["ttft_ms"])

    def test_rewards_the_requests_that_meet_the_slo(self):
        env = self.env_of(PlacementEnv, topology="3P2D")
        _seen, rewards, summary = episode(env, 0, lambda seen: int(seen[:, 3].argmin()))
        self.assertAlmostEqual(rewards / 40, summary["slo_attainment"], places=6)

    def test_has_the_engines_that_a_scaling_action_asks_for(self):
        flags = {"topology": None, "max": "3P3D", "scale_interval": 0.1}
        env = self.env_of(ScalingEnv, **flags, reward=good_requests)
        seen, _rewards, summary = episode(env, 0, lambda _seen: [2, 3])
        self.assertEqual(env.roles, ["prefill", "decode"])
        self.assertEqual(seen[0][:, 0].tolist(), [1, 1])
        self.assertEqual(seen[-1][:, 0].tolist(), [2, 3])
        self.assertEqual(summary["completed"], 40)

    def test_ends_with_the_sentence_of_the_command_line(self):
        with self.assertRaisesRegex(baton.BatonError, "Remove --placement"):
            PlacementEnv(**FEW, placement="random")
        env = self.env_of(PlacementEnv, topology="3P2D")
        env.reset(seed=0)
        with self.assertRaisesRegex(baton.BatonError, "expected an integer from 0 to 2"):
            env.step(3)


class AnError(unittest.TestCase):
    def test_is_the_sentence_of_the_command_line(self):
        with self.assertRaises(baton.BatonError) as caught:
            baton.replay(**FEW, rate_scal=2)
        ended = subprocess.run([BIN, "replay", "--rate-scal=2"], capture_output=True, text=True)
        self.assertEqual(f"baton: {caught.exception}\n", ended.stderr)
        self.assertEqual(caught.exception.exit_code, ended.returncode)

    def test_names_a_program_that_is_not_there(self):
        with self.assertRaisesRegex(baton.BatonError, "/no/such/baton cannot be run"):
            baton.replay(**FEW, baton_bin="/no/such/baton")


def main() -> None:
    """Ends with the line that scripts/test.mjs counts."""
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    raise SystemExit(failed > 0)


main()
