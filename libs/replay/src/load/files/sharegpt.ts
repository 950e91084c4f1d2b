import { accessSync, constants, createReadStream } from 'node:fs';
import { isObject, type JsonFields, reasonOf } from '@baton/kernel';
import { UsageError } from '@baton/config';
import { type Workload, WorkloadBuilder } from '@baton/workload';
import { datasetArrivals } from '../dataset';
import type { FlagValues } from '../flag-values';
import { JsonObjects } from './json-objects';

const CHUNK_BYTES = 1 << 20;
const PROMPTS = 1000;
/**
 * Limits of `vllm bench serve` (vllm/benchmarks/datasets): shorter texts are not a conversation,
 * longer ones exceed small models.
 */
const LEAST_TOKENS = 4;
const MOST_PROMPT_TOKENS = 1024;
const MOST_TOKENS = 2048;

/** Sides of a conversation, in `from` or `role`, that ask no question. */
const NO_QUESTIONS = new Set([
  'system',
  'developer',
  'gpt',
  'assistant',
  'chatgpt',
  'bing',
  'bard',
  'model',
]);

interface Exchange {
  readonly prompt: string;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** A workload whose prompts are texts of a file. */
export interface TextWorkload {
  readonly workload: Workload;
  readonly texts: readonly string[];
  /** One sentence each: what was left out, and that there are fewer requests than asked for. */
  readonly notes: readonly string[];
}

/** Conversations that were left out, by reason. */
interface LeftOut {
  withoutExchange: number;
  tooShort: number;
  tooLong: number;
}

/**
 * The path of a ShareGPT file that can be read.
 *
 * @throws UsageError
 */
export function checkShareGptFile(path: string | undefined): string {
  if (path === undefined) throw new UsageError('--dataset sharegpt needs --dataset-file FILE.');
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
  return path;
}

/**
 * First messages and answers of a ShareGPT file, in its order, up to the requested number. Lengths
 * are counted in o200k_base. Texts outside of the limits of `vllm bench serve` are left out, and
 * the notes count them.
 *
 * @throws UsageError when the file cannot be read or has no usable conversation
 */
export async function loadShareGpt(
  flags: FlagValues,
  { seed, blockSize }: { readonly seed: number; readonly blockSize: number },
): Promise<TextWorkload> {
  const path = checkShareGptFile(flags.text('datasetFile'));
  const wanted = flags.count('numPrompts', 0) ?? PROMPTS;
  const { found, leftOut } = await exchangesIn(path, wanted, flags.count('sharegptOutputLen'));
  if (found.length === 0 && wanted > 0) {
    const why = leftOutText(leftOut) || 'the format must be ShareGPT';
    throw new UsageError(`${path} has no usable conversation; ${why}.`);
  }
  const { arrivalUs } = datasetArrivals(flags, seed, found.length);
  const builder = new WorkloadBuilder({ contentBlockTokens: blockSize });
  const count = Math.min(found.length, arrivalUs.length);
  for (let row = 0; row < count; row++) {
    const { promptTokens, outputTokens } = found[row]!;
    builder.add({ arrivalUs: arrivalUs[row]!, promptTokens, outputTokens });
  }
  return {
    workload: builder.build(),
    texts: found.slice(0, count).map(({ prompt }) => prompt),
    notes: notesOn({ found: found.length, wanted: flags.count('numPrompts', 0) }, leftOut),
  };
}

async function exchangesIn(
  path: string,
  wanted: number,
  outputLength: number | undefined,
): Promise<{ found: Exchange[]; leftOut: LeftOut }> {
  const { defaultTokenizer } = await import('@baton/text');
  const tokenizer = defaultTokenizer();
  const lengthOf = (text: string): number => tokenizer.encode(text, MOST_TOKENS).length;
  const found: Exchange[] = [];
  const leftOut: LeftOut = { withoutExchange: 0, tooShort: 0, tooLong: 0 };
  const objects = new JsonObjects(path, (object) => {
    const [prompt, answer] = firstExchange(object);
    if (prompt === undefined || answer === undefined) {
      leftOut.withoutExchange += 1;
      return true;
    }
    const promptTokens = lengthOf(prompt);
    const outputTokens = outputLength ?? lengthOf(answer);
    const fault = faultOf(promptTokens, outputTokens, outputLength !== undefined);
    if (fault === undefined) found.push({ prompt, promptTokens, outputTokens });
    else leftOut[fault] += 1;
    return found.length < wanted;
  });
  if (wanted > 0) await readChunks(path, objects);
  return { found, leftOut };
}

async function readChunks(path: string, objects: JsonObjects): Promise<void> {
  const source = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  try {
    for await (const chunk of source) if (!objects.push(chunk as Buffer)) return;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
}

/**
 * The first question of a conversation and the message behind it. The messages are those of
 * `conversations` (`from`, `value`) or of `messages` (`role`, `content`). Instructions before the
 * question are no prompt, nor is an answer without a question.
 */
function firstExchange(object: unknown): (string | undefined)[] {
  const { conversations, messages } = fieldsOf(object);
  const given = [conversations, messages].find(Array.isArray) as unknown[] | undefined;
  const all = (given ?? []).map(fieldsOf);
  const first = all.findIndex(({ from, role }) => !NO_QUESTIONS.has(String(from ?? role)));
  if (first < 0) return [];
  return all.slice(first, first + 2).map(({ value, content }) => textOf(value ?? content));
}

function fieldsOf(value: unknown): JsonFields {
  return isObject(value) ? value : {};
}

/** A text, or the texts among the parts of a message. */
function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.map((part) => fieldsOf(part)['text']);
  return texts.filter((text) => typeof text === 'string').join('') || undefined;
}

/** Undefined for usable lengths. */
function faultOf(
  promptTokens: number,
  outputTokens: number,
  isOutputGiven: boolean,
): 'tooShort' | 'tooLong' | undefined {
  if (promptTokens < LEAST_TOKENS) return 'tooShort';
  if (!isOutputGiven && outputTokens < LEAST_TOKENS) return 'tooShort';
  const isLong = promptTokens > MOST_PROMPT_TOKENS || promptTokens + outputTokens > MOST_TOKENS;
  return isLong ? 'tooLong' : undefined;
}

/** `3 are left out: 2 without a question and an answer, 1 longer than …`; empty for none. */
function leftOutText({ withoutExchange, tooShort, tooLong }: LeftOut): string {
  const parts = [
    [withoutExchange, 'without a question and an answer'],
    [tooShort, `with a question or an answer below ${LEAST_TOKENS} tokens`],
    [tooLong, `above ${MOST_PROMPT_TOKENS} tokens of question or ${MOST_TOKENS} in all`],
  ] as const;
  const named = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const sum = withoutExchange + tooShort + tooLong;
  return sum === 0 ? '' : `${sum} ${sum === 1 ? 'is' : 'are'} left out: ${named.join(', ')}`;
}

function notesOn(
  { found, wanted }: { readonly found: number; readonly wanted: number | undefined },
  leftOut: LeftOut,
): string[] {
  const text = leftOutText(leftOut);
  const fewer =
    wanted !== undefined && found < wanted
      ? [`The file has ${found} usable conversations of the ${wanted} that --num-prompts asks for.`]
      : [];
  return [...(text === '' ? [] : [`Of the conversations ${text}.`]), ...fewer];
}
