// The place of each system: Baton in this checkout, programs of PyPI in environments that are
// created on first use, and binaries that an environment variable names.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../../scripts/pypi.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules', '.cache', 'peers');
const VOCABULARY = 32_000;

/** A system that is not available. The message names the remedy. */
export class Missing extends Error {}

export function batonProgram() {
  return join(ROOT, 'bin', 'baton');
}

/** The folder with the programs of a file in `requirements/`. */
export function programsOf(name) {
  const venv = join(CACHE, name);
  try {
    mkdirSync(CACHE, { recursive: true });
    installPackages(venv, requirementsOf(name));
  } catch (error) {
    throw new Missing(`${name} cannot be installed from PyPI: ${error.message.split('\n')[0]}`);
  }
  return join(venv, 'bin');
}

/** Name and version of each package. */
export function versionsOf(name) {
  return readFileSync(requirementsOf(name), 'utf8').trim().split('\n');
}

function requirementsOf(name) {
  return join(HERE, 'requirements', `${name}.txt`);
}

export function binaryOf(variable) {
  const path = process.env[variable];
  if (path === undefined || !existsSync(path)) throw new Missing(`${variable} names no binary`);
  return path;
}

/** Built with the Go on PATH. */
export function loadgenProgram() {
  const program = join(CACHE, 'loadgen');
  mkdirSync(CACHE, { recursive: true });
  execFileSync('go', ['build', '-o', program, '.'], {
    cwd: join(HERE, 'loadgen'),
    stdio: 'inherit',
  });
  return program;
}

/**
 * A folder in the form of a model without weights, for a frontend that requires one. A word of the
 * load generator is one token.
 */
export function modelFolder() {
  const folder = join(CACHE, 'model');
  if (existsSync(join(folder, 'tokenizer.json'))) return folder;
  mkdirSync(folder, { recursive: true });
  const files = { 'config.json': CONFIG, 'tokenizer.json': tokenizer(), ...SMALL_FILES };
  for (const [name, value] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), JSON.stringify(value));
  }
  return folder;
}

function tokenizer() {
  const source = readFileSync(join(HERE, 'loadgen', 'wire.go'), 'utf8');
  const [, words = ''] = /strings\.Fields\(`([^`]*)`\)/.exec(source) ?? [];
  const special = ['<unk>', '<s>', '</s>'];
  const known = [...new Set([...special, ...words.split(/\s+/)])];
  const filled = Array.from({ length: VOCABULARY }, (_, id) => known[id] ?? `w${id}`);
  const flags = {
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    normalizer: null,
    post_processor: null,
    added_tokens: special.map((content, id) => ({ id, content, ...flags })),
    pre_tokenizer: { type: 'Whitespace' },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: false },
    model: {
      type: 'WordLevel',
      vocab: Object.fromEntries(filled.map((word, id) => [word, id])),
      unk_token: '<unk>',
    },
  };
}

/** The shape of Llama 3.1 8B. */
const CONFIG = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  torch_dtype: 'bfloat16',
  bos_token_id: 1,
  eos_token_id: 2,
  hidden_act: 'silu',
  hidden_size: 4_096,
  initializer_range: 0.02,
  intermediate_size: 14_336,
  max_position_embeddings: 131_072,
  num_attention_heads: 32,
  num_hidden_layers: 32,
  num_key_value_heads: 8,
  rms_norm_eps: 1e-5,
  rope_theta: 500_000,
  tie_word_embeddings: false,
  vocab_size: VOCABULARY,
};

const SMALL_FILES = {
  'generation_config.json': { bos_token_id: 1, eos_token_id: 2 },
  'tokenizer_config.json': {
    tokenizer_class: 'PreTrainedTokenizerFast',
    model_max_length: 131_072,
    bos_token: '<s>',
    eos_token: '</s>',
    unk_token: '<unk>',
    chat_template: "{% for m in messages %}{{ m['content'] }}{% endfor %}",
  },
};
