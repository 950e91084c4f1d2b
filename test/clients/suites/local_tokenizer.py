"""A tokenizer with one token per byte, for tools that cannot work without one of their own."""

import json
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel


def write_tokenizer(folder: str) -> str:
    """Writes it as Hugging Face's libraries read it, and returns the folder."""
    vocabulary = {text: number for number, text in enumerate(sorted(ByteLevel.alphabet()))}
    tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    tokenizer.save(str(Path(folder) / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 131072}
    (Path(folder) / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder
