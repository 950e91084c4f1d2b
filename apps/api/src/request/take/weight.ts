import { LargeBody } from '../../http/body/large-body';

/**
 * `light`: an ordinary request, read on the event loop. `confined`: it has constraints whose cost
 * is unknown beforehand, so the event loop starts it within a bound. `heavy`: a thread does it.
 */
export type Weight = 'light' | 'confined' | 'heavy';

/** Fields that constrain texts by a grammar, a schema or a pattern. */
const CONFINING = ['response_format', 'structured_outputs', 'tools', 'functions'];
/** Fields that may multiply the work of a request. */
const MULTIPLYING = ['n', 'best_of', 'prompt_logprobs', 'logprobs', 'ignore_eos', 'include'];
/** The fields that limit the length of an answer: in chats, completions and responses. */
const LENGTHS = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'];
/** The value of `include` that corresponds to `logprobs` of the other endpoints. */
const INCLUDED_LOGPROBS = 'message.output_text.logprobs';
/** Limits of lists whose entries take up to 0.2 ms each on a slow core: 20 ms in all. */
const LISTS: readonly (readonly [field: string, most: number])[] = [
  ['messages', 64],
  ['prompt', 16],
  ['input', 16],
  ['documents', 16],
  ['stop', 32],
  ['bad_words', 32],
];
/** Most sequences that are planned on the event loop. */
const MAX_SEQUENCES = 16;
/** Most tokens, times the alternatives shown for each, in one answer. */
const MAX_SCORED = 8_192;

/** Estimates the time to read, plan and answer a parsed body, from its counts alone. */
export function weightOf(body: unknown): Weight {
  if (body instanceof LargeBody) return 'heavy';
  const fields = body as Fields | null | undefined;
  if (fields === null || typeof fields !== 'object') return 'light';
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

type Fields = Readonly<Record<string, unknown>>;

/** The weight of a request with a field that multiplies its work. */
function multipliedWeight(fields: Fields): Weight {
  const sequences = Math.max(countIn(fields['n'], 1), countIn(fields['best_of'], 1));
  if (sequences > MAX_SEQUENCES || (fields['prompt_logprobs'] ?? null) !== null) return 'heavy';
  const isScored = (fields['logprobs'] ?? false) !== false || includesLogprobs(fields);
  if (isScored && fields['echo'] === true) return 'heavy';
  const isLong = isScored || fields['ignore_eos'] === true;
  const tokens = Math.max(...LENGTHS.map((field) => countIn(fields[field], 0)));
  const shown = 1 + countIn(fields['top_logprobs'], countIn(fields['logprobs'], 0));
  if (isLong && sequences * tokens * shown > MAX_SCORED) return 'heavy';
  return CONFINING.some((field) => (fields[field] ?? null) !== null) ? 'confined' : 'light';
}

function includesLogprobs({ include }: Fields): boolean {
  return Array.isArray(include) && include.includes(INCLUDED_LOGPROBS);
}

function countIn(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
