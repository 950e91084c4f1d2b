import {
  type BenchmarkRecord,
  type FailureCount,
  IntervalHistogram,
  type Lateness,
  outcomeCode,
  RequestLog,
} from '@baton/analysis';
import type { Workload } from '@baton/workload';
import type { Ending } from './http-stream';
import type { ReceivedAnswer } from './protocol/answer';

const US_PER_MS = 1_000;
const US_PER_SECOND = 1_000_000;
/**
 * Errors with the meaning of an outcome in a simulated run: rejected because queues are full; can
 * never be served.
 */
const OUTCOME_OF = { http_429: 'rejected', http_400: 'refused' } as const;

/** The fields that `--save-detailed` keeps of each request. Texts of failed requests are empty. */
export interface RequestDetail {
  readonly gapsUs: readonly number[];
  readonly text: string;
  readonly error: string;
  /** By the server's usage. Undefined without it. */
  readonly promptTokens: number | undefined;
}

const NOTHING: RequestDetail = { gapsUs: [], text: '', error: '', promptTokens: undefined };

/** A client's record has no engines. */
const NO_ENGINES = {
  engines: [],
  lives: [],
  series: {
    startUs: 0,
    intervalUs: 0,
    samples: 0,
    running: new Float32Array(0),
    waiting: new Float32Array(0),
    fetching: new Float32Array(0),
    kvUsage: new Float32Array(0),
    heldBlocks: new Float32Array(0),
  },
  steps: 0,
  events: 0,
};

/** Records the requests of a load run. Instants on the run's timeline count from `startMs`. */
export class Recorder {
  readonly log: RequestLog;
  readonly details: RequestDetail[] | undefined;
  private readonly countedBy = { usage: 0, events: 0 };
  private readonly promptUsage = { tokens: 0, requests: 0 };
  private readonly itl = new IntervalHistogram();
  private itlSquareSum = 0;
  private readonly tokensInSecond: number[] = [];
  private readonly failures = new Map<string, { count: number; example: string }>();

  constructor(
    workload: Workload,
    private readonly startMs: number,
    keepsDetails: boolean,
  ) {
    this.log = new RequestLog(workload.count);
    this.log.promptTokens.set(workload.promptTokens);
    this.log.outputTokens.set(workload.outputTokens);
    this.details = keepsDetails ? Array<RequestDetail>(workload.count).fill(NOTHING) : undefined;
  }

  sent(row: number, atMs: number): void {
    this.log.arrivalUs.set(row, this.us(atMs));
  }

  endRequest(row: number, answer: ReceivedAnswer, ending: Ending): void {
    const { log } = this;
    log.emittedTokens[row] = answer.outputTokens ?? answer.events;
    if (answer.events > 0) log.firstTokenUs.set(row, this.us(answer.firstMs));
    if (ending.kind === 'failed') this.failed(row, ending.error, ending.message);
    if (ending.kind !== 'whole') return;
    log.outcome[row] = outcomeCode('completed');
    log.finishUs.set(row, this.us(answer.lastMs));
    log.cachedTokens[row] = answer.cachedTokens ?? 0;
    this.countedBy[answer.outputTokens === undefined ? 'events' : 'usage'] += 1;
    if (answer.promptTokens !== undefined) {
      this.promptUsage.tokens += answer.promptTokens;
      this.promptUsage.requests += 1;
    }
    const tokensPerEvent = log.emittedTokens[row]! / (answer.gapsUs.length + 1);
    this.gaps(log.firstTokenUs.at(row), answer.gapsUs, tokensPerEvent);
    const { gapsUs, text, promptTokens } = answer;
    if (this.details !== undefined) this.details[row] = { gapsUs, text, error: '', promptTokens };
  }

  failed(row: number, error: string, message: string): void {
    const outcome = OUTCOME_OF[error as keyof typeof OUTCOME_OF] ?? 'failed';
    this.log.outcome[row] = outcomeCode(outcome);
    const found = this.failures.get(error);
    if (found === undefined) this.failures.set(error, { count: 1, example: message });
    else found.count += 1;
    if (this.details !== undefined) {
      this.details[row] = { ...NOTHING, error: `${error}: ${message}` };
    }
  }

  take(endMs: number, lateness: Lateness): BenchmarkRecord {
    return {
      ...NO_ENGINES,
      lateness,
      failures: this.failureCounts(),
      countedBy: this.countedBy,
      promptUsage: this.promptUsage,
      log: this.log,
      itl: this.itl,
      itlSquareSum: this.itlSquareSum,
      peakOutputTokensPerSecond: peakPerSecond(this.tokensInSecond, this.us(endMs)),
      endUs: this.us(endMs),
    };
  }

  private failureCounts(): FailureCount[] {
    return [...this.failures]
      .map(([error, { count, example }]) => ({ error, count, example }))
      .sort((a, b) => b.count - a.count);
  }

  /** An event may have several tokens, of which only the answer's usage has the number. */
  private gaps(firstTokenUs: number, gapsUs: readonly number[], tokensPerEvent: number): void {
    let atUs = firstTokenUs;
    this.countTokens(atUs, tokensPerEvent);
    for (const gapUs of gapsUs) {
      this.itl.add(gapUs);
      this.itlSquareSum += gapUs * gapUs;
      this.countTokens((atUs += gapUs), tokensPerEvent);
    }
  }

  private countTokens(atUs: number, tokens: number): void {
    const second = Math.floor(atUs / US_PER_SECOND);
    while (this.tokensInSecond.length <= second) this.tokensInSecond.push(0);
    this.tokensInSecond[second]! += tokens;
  }

  private us(atMs: number): number {
    return Math.round((atMs - this.startMs) * US_PER_MS);
  }
}

/**
 * The largest rate of tokens over the whole seconds of a run, of which the last lasts for 1 to 2 s,
 * or over all of a run below 2 s. So it is never below the mean rate.
 *
 * @param tokens  tokens in each second, the last one begun
 * @param endUs  duration of the run
 * @returns tokens per second
 */
export function peakPerSecond(tokens: readonly number[], endUs: number): number {
  if (endUs <= 0) return 0;
  const whole = Math.max(1, Math.floor(endUs / US_PER_SECOND));
  const rest = tokens.slice(whole - 1).reduce((sum, each) => sum + each, 0);
  const restRate = rest / (endUs / US_PER_SECOND - (whole - 1));
  return tokens.slice(0, whole - 1).reduce((most, each) => Math.max(most, each), restRate);
}
