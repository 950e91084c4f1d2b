import { createReadStream } from 'node:fs';
import { reasonOf } from '@baton/kernel';
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

interface Exchange {
  readonly prompt: string;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** A workload whose prompts are texts of a file. */
export interface TextWorkload {
  readonly workload: Workload;
  readonly texts: readonly string[];
}

/**
 * First messages and answers of a ShareGPT file, in its order, up to the requested number. Lengths
 * are counted in o200k_base. Texts outside of the limits of `vllm bench serve` are left out.
 *
 * @throws UsageError when the file cannot be read or has no usable conversation
 */
export async function loadShareGpt(
  flags: FlagValues,
  { seed, blockSize }: { readonly seed: number; readonly blockSize: number },
): Promise<TextWorkload> {
  const path = flags.text('datasetFile');
  if (path === undefined) throw new UsageError('--dataset sharegpt needs --dataset-file FILE.');
  const wanted = flags.count('numPrompts', 0) ?? PROMPTS;
  const found = await exchangesIn(path, wanted, flags.count('sharegptOutputLen'));
  if (found.length === 0 && wanted > 0) {
    throw new UsageError(`${path} has no usable conversation; the format must be ShareGPT.`);
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
  };
}

async function exchangesIn(
  path: string,
  wanted: number,
  outputLength: number | undefined,
): Promise<Exchange[]> {
  const { defaultTokenizer } = await import('@baton/text');
  const tokenizer = defaultTokenizer();
  const lengthOf = (text: string): number => tokenizer.encode(text, MOST_TOKENS).length;
  const found: Exchange[] = [];
  const objects = new JsonObjects(path, (object) => {
    const [prompt, answer] = messagesOf(object);
    if (prompt === undefined || answer === undefined) return true;
    const promptTokens = lengthOf(prompt);
    const outputTokens = outputLength ?? lengthOf(answer);
    if (isUsable(promptTokens, outputTokens, outputLength !== undefined)) {
      found.push({ prompt, promptTokens, outputTokens });
    }
    return found.length < wanted;
  });
  if (wanted > 0) await readChunks(path, objects);
  return found;
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

/** The first two messages of a conversation. */
function messagesOf(object: unknown): (string | undefined)[] {
  const { conversations } = (object ?? {}) as { conversations?: unknown };
  if (!Array.isArray(conversations)) return [];
  return (conversations as unknown[]).slice(0, 2).map((message) => {
    const { value } = (message ?? {}) as { value?: unknown };
    return typeof value === 'string' ? value : undefined;
  });
}

function isUsable(promptTokens: number, outputTokens: number, isOutputGiven: boolean): boolean {
  if (promptTokens < LEAST_TOKENS || promptTokens > MOST_PROMPT_TOKENS) return false;
  if (!isOutputGiven && outputTokens < LEAST_TOKENS) return false;
  return promptTokens + outputTokens <= MOST_TOKENS;
}
