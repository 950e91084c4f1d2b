"""Prints the metric families of vLLM's loggers.py as JSON, and what it records in each.

It reads the syntax tree: nothing of vLLM is imported but its table of buckets.

usage: families.py SOURCE MAX_MODEL_LEN
"""

import ast
import importlib.util
import json
import sys
from pathlib import Path

CLASSES = {"_gauge_cls": "gauge", "_counter_cls": "counter", "_histogram_cls": "histogram"}
RECORDS = {"inc", "observe", "set"}


def main(source: str, max_model_len: int) -> None:
    metrics = Path(source) / "vllm" / "v1" / "metrics"
    tree = ast.parse((metrics / "loggers.py").read_text())
    logger = next(
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == "PrometheusStatLogger"
    )
    methods = {node.name: node for node in logger.body if isinstance(node, ast.FunctionDef)}
    bounds = bounds_of(methods["__init__"], buckets_module(metrics), max_model_len)
    families, names = families_of(methods["__init__"], bounds)
    print(json.dumps({"families": families, "rules": rules_of(methods["record"], names)}))


def buckets_module(metrics: Path):
    spec = importlib.util.spec_from_file_location("buckets", metrics / "buckets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bounds_of(init: ast.FunctionDef, buckets, max_model_len: int) -> dict[str, list[float]]:
    """Bounds by the variable that has them: `x = histogram_buckets("family", …)`."""
    found = {}
    for node in ast.walk(init):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        if getattr(node.value.func, "id", "") != "histogram_buckets":
            continue
        family = ast.literal_eval(node.value.args[0])
        found[node.targets[0].id] = buckets.histogram_buckets(family, max_model_len=max_model_len)
    return found


def families_of(init: ast.FunctionDef, bounds: dict[str, list[float]]):
    """The families, and their names by the variables and attributes that hold them."""
    families, names = [], {}
    for node in ast.walk(init):
        if not isinstance(node, ast.Assign):
            continue
        family = family_in(node.value, bounds)
        if family is not None:
            families.append(family)
            names[root_of(node.targets[0])] = family["name"]
    for node in ast.walk(init):
        if not isinstance(node, ast.Assign):
            continue
        for used in ast.walk(node.value):
            if isinstance(used, ast.Name) and used.id in names:
                names.setdefault(root_of(node.targets[0]), names[used.id])
    return families, names


def family_in(value: ast.expr, bounds: dict[str, list[float]]):
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return None
    kind = CLASSES.get(value.func.attr)
    given = {each.arg: each.value for each in value.keywords}
    if kind is None or not isinstance(given.get("name"), ast.Constant):
        return None
    return {
        "name": given["name"].value,
        "type": kind,
        "help": ast.literal_eval(given["documentation"]),
        "labels": labels_in(given["labelnames"]),
        "buckets": bounds.get(getattr(given.get("buckets"), "id", "")),
    }


def labels_in(expression: ast.expr) -> list[str]:
    """`labelnames`, `labelnames + ["reason"]`, or a list; attributes are LoRA's label names."""
    own = [each.value for each in ast.walk(expression) if isinstance(each, ast.Constant)]
    base = [each.id for each in ast.walk(expression) if isinstance(each, ast.Name)]
    return (["model_name", "engine"] if "labelnames" in base else []) + own


def rules_of(record: ast.FunctionDef, names: dict[str, str]) -> dict[str, list[str]]:
    """What is added to each family: the arguments of `inc`, `observe` and `set`."""
    rules: dict[str, list[str]] = {}
    for node in ast.walk(record):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name = names.get(root_of(node.func.value))
        if node.func.attr in RECORDS and name is not None:
            said = [ast.unparse(each) for each in node.args] or ["1"]
            rules.setdefault(name, []).extend(said)
    return rules


def root_of(node: ast.expr) -> str:
    """`self.counter[reason][engine]` and `self.counter.labels(…)` are `counter`."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Attribute) and node.attr == "labels":
            node = node.value
        elif isinstance(node, ast.Attribute):
            return node.attr
        else:
            return getattr(node, "id", "")


main(sys.argv[1], int(sys.argv[2]))
