import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import o200kRanks from 'gpt-tokenizer/bpeRanks/o200k_base';
import { type Ranks, RankedTokenizer, tokenTableOf } from './ranked-tokenizer';
import { TokenTable } from './token-table';
import type { Tokenizer } from './tokenizer';

const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const ANY_CASE_CONTRACTION = `'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])`;
const SPACES = [String.raw`\s+(?!\S)`, String.raw`\s+`];

/** The pattern that cuts texts before merging (openai/tiktoken, tiktoken_ext/openai_public.py). */
const O200K_PIECES = [
  String.raw`[^\r\n\p{L}\p{N}]?${UPPER}*${LOWER}+(?:${ANY_CASE_CONTRACTION})?`,
  String.raw`[^\r\n\p{L}\p{N}]?${UPPER}+${LOWER}*(?:${ANY_CASE_CONTRACTION})?`,
  String.raw`\p{N}{1,3}`,
  String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
  String.raw`\s*[\r\n]+`,
  ...SPACES,
];
const CL100K_PIECES = [
  ANY_CASE_CONTRACTION,
  String.raw`[^\r\n\p{L}\p{N}]?\p{L}+`,
  String.raw`\p{N}{1,3}`,
  String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*`,
  String.raw`\s+$`,
  String.raw`\s*[\r\n]`,
  ...SPACES,
];
const GPT2_PIECES = [
  `'(?:[sdmt]|ll|ve|re)`,
  String.raw` ?\p{L}+`,
  String.raw` ?\p{N}+`,
  String.raw` ?[^\s\p{L}\p{N}]+`,
  ...SPACES,
];

/** Special tokens by id, with the numbers of tiktoken and gpt-tokenizer. */
const O200K_SPECIAL = new Map([
  [199_999, '<|endoftext|>'],
  [200_000, '<|fim_prefix|>'],
  [200_001, '<|fim_middle|>'],
  [200_002, '<|fim_suffix|>'],
  [200_003, '<|im_start|>'],
  [200_004, '<|im_end|>'],
  [200_005, '<|im_sep|>'],
  [200_006, '<|endofprompt|>'],
]);
const CL100K_SPECIAL = new Map([
  [100_257, '<|endoftext|>'],
  [100_258, '<|fim_prefix|>'],
  [100_259, '<|fim_middle|>'],
  [100_260, '<|fim_suffix|>'],
  [100_264, '<|im_start|>'],
  [100_265, '<|im_end|>'],
  [100_266, '<|im_sep|>'],
  [100_276, '<|endofprompt|>'],
]);
const GPT2_SPECIAL = new Map([[50_256, '<|endoftext|>']]);

export const TOKENIZER_NAMES = ['o200k', 'cl100k', 'p50k', 'r50k'] as const;
export type TokenizerName = (typeof TOKENIZER_NAMES)[number];

/** A tokenizer by name. Only the table of that tokenizer is loaded. */
export async function loadTokenizer(name: TokenizerName): Promise<Tokenizer> {
  switch (name) {
    case 'o200k':
      return defaultTokenizer();
    case 'cl100k': {
      const { default: tokens } = await import('gpt-tokenizer/bpeRanks/cl100k_base');
      return ranked('cl100k_base', tokenTableOf(tokens), [CL100K_PIECES, CL100K_SPECIAL]);
    }
    case 'p50k': {
      const { default: tokens } = await import('gpt-tokenizer/bpeRanks/p50k_base');
      return ranked('p50k_base', tokenTableOf(tokens), [GPT2_PIECES, GPT2_SPECIAL]);
    }
    case 'r50k': {
      const { default: tokens } = await import('gpt-tokenizer/bpeRanks/r50k_base');
      return ranked('r50k_base', tokenTableOf(tokens), [GPT2_PIECES, GPT2_SPECIAL]);
    }
  }
}

let shared: Tokenizer | undefined;

/** The table of o200k_base as a file; scripts/build-vocabulary.mjs writes it. */
export const O200K_FILE = join(__dirname, 'o200k_base.tokens');

/** The table built from the package's list, which takes 0.2 s and 60 MiB. */
export function o200kTable(): TokenTable {
  return tokenTableOf(o200kRanks);
}

/**
 * o200k_base, the tokenizer of GPT-4o and later. Tests run the sources, which have no such file.
 */
export function defaultTokenizer(): Tokenizer {
  if (shared === undefined) {
    const isBuilt = existsSync(O200K_FILE);
    const tokens = isBuilt ? TokenTable.read(readFileSync(O200K_FILE)) : o200kTable();
    shared = ranked('o200k_base', tokens, [O200K_PIECES, O200K_SPECIAL]);
  }
  return shared;
}

type Rules = readonly [pieces: readonly string[], special: Ranks['special']];

function ranked(name: string, tokens: Ranks['tokens'], [pieces, special]: Rules): Tokenizer {
  return new RankedTokenizer({ name, tokens, pieces: new RegExp(pieces.join('|'), 'gu'), special });
}
