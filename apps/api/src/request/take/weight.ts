import { isObject } from '@baton/kernel';
import { LargeBody } from '../../http/body/large-body';

/**
 * `light`: an ordinary request, read on the event loop. `confined`: it has constraints, whose cost
 * is not to be seen from outside: the event loop begins, within a bound. `heavy`: a thread does it.
 */
export type Weight = 'light' | 'confined' | 'heavy';

/** Fields whose texts are read under a grammar, a schema or a pattern. */
const CONFINING = ['response_format', 'structured_outputs', 'tools', 'functions'];
/** Fields that may multiply the work of a request. */
const MULTIPLYING = [
  ...['n', 'best_of', 'prompt_logprobs', 'logprobs', 'return_logprob', 'include'],
  ...['ignore_eos', 'min_tokens', 'min_new_tokens'],
];
/** Where the length of an answer is bounded: in chats, texts, responses, and SGLang's requests. */
const LENGTHS = [
  ...['max_completion_tokens', 'max_tokens', 'max_output_tokens', 'max_new_tokens'],
  ...['min_tokens', 'min_new_tokens'],
];
/** Fields that ask for log-probabilities, and those that say of how many tokens at each place. */
const SCORING = ['logprobs', 'return_logprob'];
const SHOWN = ['top_logprobs', 'logprobs', 'top_logprobs_num'];
/** In `include`: what `logprobs` is to the other endpoints. */
const INCLUDED_LOGPROBS = 'message.output_text.logprobs';
/** Entries that take up to a fifth of a millisecond each, on a slow core: 20 ms in all. */
const LISTS: readonly (readonly [field: string, most: number])[] = [
  ['messages', 64],
  ['prompt', 16],
  ['text', 16],
  ['input', 16],
  ['input_ids', 16],
  ...['queries', 'documents', 'items', 'data_1', 'data_2', 'text_1', 'text_2'].map(
    (field): [string, number] => [field, 16],
  ),
  ['stop', 32],
  ['bad_words', 32],
];
/** Sequences that are planned on the event loop. */
const MAX_SEQUENCES = 16;
/** Tokens, times the alternatives shown of each, that one answer may hold. */
const MAX_SCORED = 8_192;

/** How long a parsed body may take to read, plan and answer, judged by its counts alone. */
export function weightOf(body: unknown): Weight {
  if (body instanceof LargeBody) return 'heavy';
  if (!isObject(body)) return 'light';
  const { sampling_params: sampling } = body;
  return weightOfFields(isObject(sampling) ? { ...body, ...sampling } : body);
}

type Fields = Readonly<Record<string, unknown>>;

function weightOfFields(fields: Fields): Weight {
  for (const [field, most] of LISTS) {
    const list = fields[field];
    // A prompt of token ids costs next to nothing per id.
    if (Array.isArray(list) && list.length > most && typeof list[0] !== 'number') return 'heavy';
  }
  for (const field of MULTIPLYING) {
    if ((fields[field] ?? false) !== false) return multipliedWeight(fields);
  }
  for (const field of CONFINING) {
    if ((fields[field] ?? null) !== null) return 'confined';
  }
  return 'light';
}

/** The weight of a request with a field that multiplies its work. */
function multipliedWeight(fields: Fields): Weight {
  const sequences = Math.max(countIn(fields['n'], 1), countIn(fields['best_of'], 1));
  if (sequences > MAX_SEQUENCES || (fields['prompt_logprobs'] ?? null) !== null) return 'heavy';
  if (countIn(fields['logprob_start_len'], -1) >= 0) return 'heavy';
  const isScored =
    SCORING.some((field) => (fields[field] ?? false) !== false) || includesLogprobs(fields);
  if (isScored && fields['echo'] === true) return 'heavy';
  const isEndless = fields['ignore_eos'] === true;
  const least = Math.max(countIn(fields['min_tokens'], 0), countIn(fields['min_new_tokens'], 0));
  const isLong = isScored || isEndless || least > 0;
  const most = Math.max(...LENGTHS.map((field) => countIn(fields[field], 0)));
  const tokens = most === 0 && isEndless ? Infinity : most;
  const shown = 1 + Math.max(...SHOWN.map((field) => countIn(fields[field], 0)));
  if (isLong && sequences * tokens * shown > MAX_SCORED) return 'heavy';
  return CONFINING.some((field) => (fields[field] ?? null) !== null) ? 'confined' : 'light';
}

function includesLogprobs({ include }: Fields): boolean {
  return Array.isArray(include) && include.includes(INCLUDED_LOGPROBS);
}

function countIn(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
