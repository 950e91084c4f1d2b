import { isObject } from '@baton/kernel';
import { LargeBody } from '../../http/body/large-body';

/** Fields that may multiply the work of a request. */
const MULTIPLYING = [
  ...['n', 'best_of', 'prompt_logprobs', 'logprobs', 'return_logprob', 'include'],
  ...['ignore_eos', 'min_tokens', 'min_new_tokens'],
];
/** The fields that bound the length of an answer: in chats, texts, responses, and SGLang's. */
const LENGTHS = [
  ...['max_completion_tokens', 'max_tokens', 'max_output_tokens', 'max_new_tokens'],
  ...['min_tokens', 'min_new_tokens'],
];
/** Fields that request log-probabilities, and fields with the number of tokens at each place. */
const SCORING = ['logprobs', 'return_logprob'];
const SHOWN = ['top_logprobs', 'logprobs', 'top_logprobs_num'];
/** The value of `include` that corresponds to `logprobs` of the other endpoints. */
const INCLUDED_LOGPROBS = 'message.output_text.logprobs';
/** Fields that constrain a text: schemas, patterns, grammars and tools with their arguments. */
const CONSTRAINING = [
  ...['tools', 'functions', 'response_format', 'structured_outputs', 'output_format'],
  ...['guided_json', 'guided_regex', 'guided_choice', 'guided_grammar', 'output_config'],
  ...['json_schema', 'regex', 'ebnf', 'structural_tag'],
];
/** Limits of lists whose entries take up to 0.2 ms each on a slow core: 20 ms in all. */
const LISTS: readonly (readonly [field: string, most: number])[] = [
  ['messages', 64],
  ['prompt', 16],
  ['text', 16],
  ['input', 16],
  ['input_ids', 16],
  ...['queries', 'documents', 'items', 'data_1', 'data_2', 'text_1', 'text_2'].map(
    (field): [string, number] => [field, 16],
  ),
  ['bad_words', 32],
];
/** Most objects and lists in a body: each takes up to 0.1 ms to check on a slow core. */
const MAX_OBJECTS = 512;
/** Most sequences that are planned on the event loop. */
const MAX_SEQUENCES = 16;
/** Most tokens, times the alternatives shown for each, in one answer. */
const MAX_SCORED = 8_192;

/**
 * Whether a body is read, planned and answered in a thread: when it is long or has many entries,
 * choices or log-probabilities, and when it constrains its text.
 */
export function isHeavyBody(body: unknown): boolean {
  if (body instanceof LargeBody) return true;
  if (!isObject(body)) return false;
  const { sampling_params: sampling } = body;
  const fields: Fields = isObject(sampling) ? { ...body, ...sampling } : body;
  for (const [field, most] of LISTS) {
    const list = fields[field];
    // A prompt of token ids costs next to nothing per id.
    if (Array.isArray(list) && list.length > most && typeof list[0] !== 'number') return true;
  }
  if (hasManyObjects(body)) return true;
  if (CONSTRAINING.some((field) => constrains(fields[field]))) return true;
  // In responses an object with the format; for SGLang the prompt.
  if (isObject(fields['text']) && constrains(fields['text'])) return true;
  return MULTIPLYING.some((field) => (fields[field] ?? false) !== false) && isMultiplied(fields);
}

function hasManyObjects(body: object): boolean {
  const found: object[] = [body];
  for (let i = 0; i < found.length; i += 1) {
    for (const value of Object.values(found[i]!) as unknown[]) {
      if (typeof value === 'object' && value !== null) found.push(value);
    }
    if (found.length > MAX_OBJECTS) return true;
  }
  return false;
}

type Fields = Readonly<Record<string, unknown>>;

/** A format of type text, an empty list and `{}` constrain nothing. */
function constrains(value: unknown): boolean {
  if (Array.isArray(value) || typeof value === 'string') return value.length > 0;
  if (!isObject(value)) return false;
  const { format = value } = value;
  return Object.keys(value).length > 0 && !(isObject(format) && format['type'] === 'text');
}

/** Whether a field that may multiply the work of a request makes it heavy. */
function isMultiplied(fields: Fields): boolean {
  const sequences = Math.max(countIn(fields['n'], 1), countIn(fields['best_of'], 1));
  if (sequences > MAX_SEQUENCES || (fields['prompt_logprobs'] ?? null) !== null) return true;
  if (countIn(fields['logprob_start_len'], -1) >= 0) return true;
  const isScored =
    SCORING.some((field) => (fields[field] ?? false) !== false) || includesLogprobs(fields);
  if (isScored && fields['echo'] === true) return true;
  const isEndless = fields['ignore_eos'] === true;
  const least = Math.max(countIn(fields['min_tokens'], 0), countIn(fields['min_new_tokens'], 0));
  const isLong = isScored || isEndless || least > 0;
  const most = Math.max(...LENGTHS.map((field) => countIn(fields[field], 0)));
  const tokens = most === 0 && isEndless ? Infinity : most;
  const shown = 1 + Math.max(...SHOWN.map((field) => countIn(fields[field], 0)));
  return isLong && sequences * tokens * shown > MAX_SCORED;
}

function includesLogprobs({ include }: Fields): boolean {
  return Array.isArray(include) && include.includes(INCLUDED_LOGPROBS);
}

function countIn(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
