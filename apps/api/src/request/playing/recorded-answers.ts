import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { reasonOf } from '@baton/kernel';
import { UsageError } from '@baton/config';
import type { RecordedExchange } from '../../observers/recording/recorded-exchange';

const MAX_EXCHANGES = 100_000;
const MAX_CHARS = 512 * 1024 * 1024;

/** The answers of a recording by request; equal requests get their answers in turn. */
export class RecordedAnswers {
  private readonly byRequest = new Map<
    string,
    { readonly all: RecordedExchange[]; next: number }
  >();
  size = 0;

  /**
   * @throws UsageError, one sentence with the line, for a file that is not such a recording or is
   * too large
   */
  static async read(file: string): Promise<RecordedAnswers> {
    const answers = new RecordedAnswers();
    let number = 0;
    let chars = 0;
    try {
      const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity });
      for await (const line of lines) {
        number += 1;
        chars += line.length;
        if (line.trim() === '') continue;
        if (chars > MAX_CHARS || answers.size >= MAX_EXCHANGES) {
          throw new UsageError(`${file} holds more than ${MAX_EXCHANGES} answers or 512 MiB.`);
        }
        answers.add(exchangeIn(line, `${file}, line ${number}`));
      }
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(`${file} cannot be read: ${reasonOf(error)}.`);
    }
    if (answers.size === 0) throw new UsageError(`${file} holds no answers.`);
    return answers;
  }

  find(path: string, body: unknown): RecordedExchange | undefined {
    const known = this.byRequest.get(keyOf(path, body));
    if (known === undefined) return undefined;
    const found = known.all[known.next % known.all.length];
    known.next += 1;
    return found;
  }

  private add(exchange: RecordedExchange): void {
    if (!exchange.complete || exchange.status === 0) return;
    const request = keyOf(exchange.path, exchange.body);
    const known = this.byRequest.get(request) ?? { all: [], next: 0 };
    known.all.push(exchange);
    this.byRequest.set(request, known);
    this.size += 1;
  }
}

function exchangeIn(line: string, place: string): RecordedExchange {
  let exchange: RecordedExchange;
  try {
    exchange = JSON.parse(line) as RecordedExchange;
  } catch {
    throw new UsageError(`${place}: not JSON.`);
  }
  const isOne = exchange?.baton_exchange === 1 && Array.isArray(exchange.writes);
  if (!isOne) throw new UsageError(`${place}: not an exchange that --record-answers has written.`);
  return exchange;
}

/** Bodies with the same keys and values are equal, in any order of their keys. */
function keyOf(path: string, body: unknown): string {
  return `${path} ${JSON.stringify(sorted(body))}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}
