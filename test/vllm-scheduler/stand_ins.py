"""Lets vLLM's scheduler be imported where neither torch nor a device exists.

The modules that decide (`REAL`) are vLLM's own files. Every other module that they import gets a stand-in whose names can be subclassed, called, used
as decorators and in annotations, and which compute nothing.
"""

import importlib.abc
import importlib.machinery
import sys
import types
import typing

REAL = (
    "vllm.v1.core",
    "vllm.v1.request",
    "vllm.v1.kv_cache_interface",
    "vllm.v1.kv_cache_spec_registry",
    "vllm.v1.outputs",
    "vllm.v1.engine",
    "vllm.v1.utils",
    "vllm.v1.metrics.stats",
    "vllm.v1.spec_decode.metrics",
    "vllm.sampling_params",
    "vllm.utils.math_utils",
    "vllm.utils.hashing",
)
PACKAGES = ("vllm", "vllm.v1", "vllm.utils", "vllm.v1.metrics", "vllm.v1.spec_decode")
NOT_OURS = {*sys.stdlib_module_names, "org", "numpy", "winreg"}
THEIRS = ("vllm", "torch", "transformers")


# What may still be called once the scheduler runs: it says and counts, and decides nothing.
HARMLESS = (
    "logger",
    "init_logger",
    "record_function_or_nullcontext",
    "maybe_convert_block_hash",
    "EventPublisherFactory",
    "KVConnectorRole",
    "EncoderCacheManager",
    "KVEventBatch",
    "strip_covered_mm_data",
)
is_sealed = False


class StandIn:
    """Any name of a module that is not there."""

    def __init__(self, name):
        self.__name__ = name

    def __mro_entries__(self, bases):
        return ()

    def __instancecheck__(self, instance):
        return False

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = StandIn(f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value

    def __call__(self, *args, **kwargs):
        if is_sealed and not self.__name__.startswith(HARMLESS):
            raise TypeError(f"the stand-in {self.__name__} decides nothing")
        is_decorator = len(args) == 1 and isinstance(args[0], (type, types.FunctionType))
        return args[0] if is_decorator else StandIn(self.__name__)

    def __getitem__(self, key):
        return self

    def __or__(self, other):
        return typing.Any

    __ror__ = __or__

    def __iter__(self):
        assert not is_sealed, self.__name__
        return iter(())

    def __bool__(self):
        return False

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False


class StandInModule(types.ModuleType):
    __path__: list = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = StandIn(name)
        setattr(self, name, value)
        return value


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands before the usual finders for vLLM's own modules, and behind them for what is not installed."""

    def __init__(self, root, is_last):
        self.root = root
        self.is_last = is_last

    def find_spec(self, name, path, target=None):
        if name in PACKAGES:
            spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
            spec.submodule_search_locations = [f"{self.root}/{name.replace('.', '/')}"]
            return spec
        if any(name == real or name.startswith(real + ".") for real in REAL):
            return None
        top = name.split(".")[0]
        is_missing = self.is_last and not top.startswith("_") and top not in NOT_OURS
        if is_missing or top in THEIRS:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        if spec.name in PACKAGES:
            module = StandInModule(spec.name)
            module.__path__ = spec.submodule_search_locations
            return module
        return StandInModule(spec.name)

    def exec_module(self, module):
        pass


def install(root):
    sys.path.insert(0, root)
    sys.meta_path.insert(0, Finder(root, False))
    sys.meta_path.append(Finder(root, True))


def seal(sealed):
    """While sealed a stand-in that is asked for a value fails instead of giving nothing."""
    global is_sealed
    is_sealed = sealed
