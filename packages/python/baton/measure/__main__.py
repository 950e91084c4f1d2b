"""The command line: ``python -m baton.measure --help``."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import datetime, timezone
from pathlib import Path
from time import monotonic

from ..program import BatonError
from .shapes import read_shapes


def main(given: list[str]) -> int:
    args = _parser().parse_args(given)
    try:
        shapes = read_shapes(args.model, args.tp)
        if args.device == "cpu" and args.parts == "long":
            raise BatonError("--parts long needs a GPU.", 2)
        torch = _torch(args.device)
        args.out.mkdir(parents=True, exist_ok=True)
    except BatonError as error:
        print(f"baton.measure: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"baton.measure: {args.out} cannot be written: {error.strerror}.", file=sys.stderr)
        return 2
    try:
        _measure(args, shapes, torch)
    except BatonError as error:
        print(f"baton.measure: {error}", file=sys.stderr)
        return error.exit_code
    except torch.OutOfMemoryError:
        print("baton.measure: the GPU has too little memory. Try --max-tokens.", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m baton.measure",
        description="Measures a dense model with random weights on this GPU. Writes operator "
        "tables for `baton replay --operators OUT`, and OUT/steps.jsonl for `baton calibrate "
        "--input`.",
    )
    parser.add_argument("--model", type=Path, required=True, help="config.json, or its folder")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument(
        "--system", required=True, help="folder of the tables, such as h100_sxm"
    )
    parser.add_argument("--tp", type=int, default=1, help="sizes of one of TP ranks (1)")
    parser.add_argument(
        "--quantization", choices=("none", "fp8"), default="none", help="format of weights (none)"
    )
    parser.add_argument("--max-tokens", type=int, default=8192, help="of the largest step (8192)")
    parser.add_argument("--repeats", type=int, default=20, help="measurements of a point (20)")
    parser.add_argument("--seconds", type=float, default=600, help="time limit of each part (600)")
    parser.add_argument(
        "--parts",
        choices=("operators", "steps", "both", "cold", "long"),
        default="both",
        help="what to measure; cold: kernels with and without a warm L2 cache; long: kernels in "
        "short and in long runs, on a GPU only (both)",
    )
    parser.add_argument(
        "--device", choices=("cuda", "cpu"), default="cuda", help="cpu tries the program (cuda)"
    )
    return parser


def _torch(device: str):
    try:
        import torch
    except ImportError as error:
        raise BatonError("PyTorch is missing. Install torch.") from error
    if device == "cuda" and not torch.cuda.is_available():
        raise BatonError("PyTorch finds no GPU. Use --device cpu to try the program without one.")
    return torch


def _measure(args: argparse.Namespace, shapes, torch) -> None:
    from .cold import write_cold
    from .long_runs import write_long_runs
    from .steps import StepLog
    from .tables import Tables, write_tables

    torch.manual_seed(0)
    is_fp8 = args.quantization == "fp8"
    about = _about(args, torch)
    if args.parts == "cold":
        _say("kernels with and without a warm cache, about a minute")
        write_cold(args.out / "cold.csv", args.device)
    if args.parts == "long":
        _say(f"kernels in short and in long runs, at most {args.seconds:g} s")
        write_long_runs(args.out / "long.csv", args.device, args.seconds)
    if args.parts in ("steps", "both"):
        _say(f"steps, at most {args.seconds:g} s")
        log = StepLog(args.out / "steps.jsonl", args.repeats, monotonic() + args.seconds)
        about["without_graphs"] = log.write(shapes, is_fp8, args.max_tokens, args.device)
        about["batches_left_out"] = log.left_out
    if args.parts in ("operators", "both"):
        _say(f"operators, at most {args.seconds:g} s")
        deadline = monotonic() + args.seconds
        tables = Tables(args.out / args.system, repeats=args.repeats, deadline=deadline)
        write_tables(tables, shapes, is_fp8, args.max_tokens, args.device)
        about["points_left_out"] = tables.left_out
    (args.out / "provenance.json").write_text(json.dumps(about, indent=1) + "\n")
    left_out = sum(about.get(name, 0) for name in ("batches_left_out", "points_left_out"))
    _say(f"wrote {args.out}" + (f"; {left_out} points left out for time" if left_out else ""))


def _say(text: str) -> None:
    print(f"baton.measure: {text}", file=sys.stderr, flush=True)


def _about(args: argparse.Namespace, torch) -> dict:
    is_gpu = args.device == "cuda"
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "gpu": torch.cuda.get_device_name() if is_gpu else "cpu",
        "torch": torch.__version__,
        "cuda": torch.version.cuda if is_gpu else None,
        "model": args.model.stem if args.model.is_file() else args.model.name,
        "tensor_parallel_size": args.tp,
        "quantization": args.quantization,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
