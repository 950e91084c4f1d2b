import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { UsageError } from '@baton/config';
import type { RecordedRequest } from '@baton/loadgen';
import { fromZero, type Workload, WorkloadBuilder } from '@baton/workload';
import { readLines } from './file-lines';

const MARK = '{"baton_exchange"';
/** Upper limit of `baton up --play` for exchanges. */
const MOST_EXCHANGES = 100_000;
const OK = 200;
/** Paths of answers that consist of tokens, with any prefix. */
const GENERATING = /\/(?:chat\/completions|completions|responses)$/;

/** Requests with their bodies, by row of the workload. */
export interface RecordedExchanges {
  readonly workload: Workload;
  readonly requests: readonly RecordedRequest[];
  /** Exchanges that were left out: refused, incomplete, or of another kind. */
  readonly leftOut: number;
}

/** True for a file in the format of `baton up --record-answers`. */
export function isExchangeFile(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const start = Buffer.alloc(MARK.length);
  const file = openSync(path, 'r');
  try {
    readSync(file, start, 0, start.length, 0);
    return start.toString('utf8') === MARK;
  } finally {
    closeSync(file);
  }
}

/**
 * The requests of a file of `baton up --record-answers` that have tokens in their answers. Lengths
 * are those of the answers' usage, else counted in o200k_base. The prompts are private.
 *
 * @throws UsageError with file and line for any other line
 */
export async function readExchanges(
  path: string,
  limit = MOST_EXCHANGES,
): Promise<RecordedExchanges> {
  const { defaultTokenizer } = await import('@baton/text');
  const tokenizer = defaultTokenizer();
  const count = (text: string): number => tokenizer.encode(text).length;
  const found: { row: { arrivalUs: number } & Lengths; request: RecordedRequest }[] = [];
  let leftOut = 0;
  await readLines(path, {
    onLine: (line, lineNumber) => {
      if (line.trim() === '') return true;
      const exchange = parsed(line, `${path}:${lineNumber}`);
      const request = requestOf(exchange);
      if (request === undefined) leftOut += 1;
      else {
        const lengths = lengthsOf(request, exchange, count);
        found.push({ row: { arrivalUs: Number(exchange['arrival_us']), ...lengths }, request });
      }
      return found.length < Math.min(limit, MOST_EXCHANGES);
    },
  });
  // A line is written at the end of an answer, but rows are in order of arrival.
  found.sort((a, b) => a.row.arrivalUs - b.row.arrivalUs);
  const builder = new WorkloadBuilder();
  for (const { row } of found) builder.add(row);
  const workload = fromZero(builder.build());
  return { workload, requests: found.map(({ request }) => request), leftOut };
}

type Entry = Readonly<Record<string, unknown>>;

function parsed(line: string, place: string): Entry {
  try {
    const exchange = JSON.parse(line) as Entry | null;
    if (Number.isFinite(exchange?.['arrival_us'])) return exchange!;
  } catch {
    throw new UsageError(`${place}: the line is broken JSON.`);
  }
  throw new UsageError(`${place}: the line is not an exchange of baton up --record-answers.`);
}

function requestOf(exchange: Entry): RecordedRequest | undefined {
  const { path, body, status, complete, method } = exchange;
  if (status !== OK || complete !== true || method !== 'POST') return undefined;
  if (typeof path !== 'string' || typeof body !== 'object' || body === null) return undefined;
  const [plain = ''] = path.split('?');
  return GENERATING.test(plain) ? { path: plain, body: body as Entry } : undefined;
}

interface Lengths {
  readonly promptTokens: number;
  readonly outputTokens: number;
}

function lengthsOf(
  { body }: RecordedRequest,
  { writes }: Entry,
  count: (text: string) => number,
): Lengths {
  const answer = Array.isArray(writes)
    ? (writes as unknown[]).map((write) => String((write as unknown[])[1])).join('')
    : '';
  const usage = (pattern: RegExp): number | undefined => {
    const last = [...answer.matchAll(pattern)].at(-1)?.[1];
    return last === undefined ? undefined : Number(last);
  };
  const prompt = usage(/"(?:prompt|input)_tokens":(\d+)/g);
  const output = usage(/"(?:completion|output)_tokens":(\d+)/g);
  const requested =
    body['max_tokens'] ?? body['max_completion_tokens'] ?? body['max_output_tokens'];
  const { prompt: text, messages, input } = body;
  return {
    promptTokens: Math.max(1, prompt ?? textLength(text ?? messages ?? input, count)),
    outputTokens: Math.max(1, output ?? (Number.isInteger(requested) ? Number(requested) : 1)),
  };
}

/** Tokens of all texts and token ids within a value. */
function textLength(value: unknown, count: (text: string) => number): number {
  if (typeof value === 'string') return count(value);
  if (typeof value === 'number') return 1;
  if (typeof value !== 'object' || value === null) return 0;
  const { content, text } = value as Entry;
  const inner: unknown[] = Array.isArray(value) ? value : [content ?? text];
  return inner.reduce<number>((sum, each) => sum + textLength(each, count), 0);
}
