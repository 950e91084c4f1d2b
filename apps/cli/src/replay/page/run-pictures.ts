import {
  NEVER,
  outcomeCode,
  overTime,
  type RequestLog,
  type RunRecord,
  tpotOf,
} from '@baton/analysis';
import type { ClusterPicture, PictureEngine, PictureRates, RequestName } from '@baton/contract';
import { type Micros, quantile, usToMs, usToSeconds } from '@baton/kernel';
import { EnginesOverTime } from './engines-over-time';
import { spanOf, stateAt } from './pictured-request';

/** Most pictures of a run. More make the file larger but the page no smoother. */
const MOST_PICTURES = 600;
const SHORTEST_US = 100_000;
/** Most requests that one picture shows; the others are only counted. */
const MOST_REQUESTS = 512;
const [REJECTED, REFUSED, FAILED] = (['rejected', 'refused', 'failed'] as const).map(outcomeCode);
const [MEDIAN, TAIL] = [0.5, 0.99];

/** Simulated time between two pictures, for a run of this length. */
export function pictureIntervalUs(endUs: Micros): Micros {
  return Math.ceil(endUs / pictureCount(endUs));
}

function pictureCount(endUs: Micros): number {
  return Math.min(MOST_PICTURES, Math.max(1, Math.ceil(endUs / SHORTEST_US)));
}

/**
 * The pictures that the live page would show of a run, at the ends of equal intervals.
 *
 * @param idOf the id of the request in a row; undefined: it has none
 */
export function* runPictures(
  run: RunRecord,
  idOf: (row: number) => string | undefined,
): Generator<ClusterPicture> {
  const { log, endUs } = run;
  const intervalUs = pictureIntervalUs(endUs);
  const engines = new EnginesOverTime(run);
  const rates = ratesOver(run, pictureCount(endUs));
  const under = new UnderWay(log);
  const named = new Set<number>();
  let last: readonly number[] = [];
  for (const [at, ofInterval] of rates.entries()) {
    const atUs = (at + 1) * intervalUs;
    const present = engines.at(atUs);
    const shown = requestsAt(log, { atUs, rows: under.at(atUs), engines: present });
    const fresh = shown.keys.filter((row) => !named.has(row));
    for (const row of fresh) named.add(row);
    const here = new Set(shown.keys);
    const ended = last.filter((row) => !here.has(row));
    last = shown.keys;
    yield {
      at: usToMs(atUs),
      engines: present.map(({ engine }) => engine),
      phases: shown.phases,
      waiting: shown.waiting,
      requests: shown.requests,
      ended: ended.flatMap((row) => [row, log.emittedTokens[row]!]),
      names: fresh.map((row): RequestName => {
        const name = idOf(row) ?? `request ${row}`;
        return [row, name, log.promptTokens[row]!, log.outputTokens[row]!];
      }),
      rates: ofInterval,
      stepTimes: [],
    };
  }
}

/** The rows in the cluster, at ascending instants. */
class UnderWay {
  private readonly coming: { readonly row: number; readonly span: [Micros, Micros] }[];
  private present: { readonly row: number; readonly span: [Micros, Micros] }[] = [];
  private next = 0;

  constructor(log: RequestLog) {
    this.coming = Array.from({ length: log.count }, (_none, row) => row)
      .flatMap((row) => {
        const span = spanOf(log, row);
        return span === undefined ? [] : [{ row, span }];
      })
      .sort((a, b) => a.span[0] - b.span[0] || a.row - b.row);
  }

  at(atUs: Micros): number[] {
    while (this.next < this.coming.length && this.coming[this.next]!.span[0] <= atUs) {
      this.present.push(this.coming[this.next++]!);
    }
    this.present = this.present.filter(({ span }) => span[1] > atUs);
    return this.present.map(({ row }) => row);
  }
}

interface Instant {
  readonly atUs: Micros;
  readonly rows: readonly number[];
  readonly engines: readonly { readonly of: number; readonly engine: PictureEngine }[];
}

function requestsAt(log: RequestLog, { atUs, rows, engines }: Instant) {
  const places = new Map(engines.map(({ of }, place) => [of, place]));
  const isWhole = engines.every(({ engine }) => engine.role === 'aggregated');
  const phases = [0, 0, 0, 0];
  const waiting = { prefill: 0, decode: 0, aggregated: 0 };
  const requests: number[] = [];
  const keys: number[] = [];
  for (const row of rows) {
    const { phase, engine, tokens } = stateAt(log, row, atUs);
    phases[phase]! += 1;
    if (phase === 0) waiting[isWhole ? 'aggregated' : 'prefill'] += 1;
    const sendUs = log.transferStartUs.at(row);
    if (phase === 2 && (sendUs === NEVER || sendUs > atUs)) waiting.decode += 1;
    if (keys.length >= MOST_REQUESTS) continue;
    keys.push(row);
    requests.push(row, phase, places.get(engine) ?? -1, tokens);
  }
  return { phases, waiting, requests, keys };
}

/** The rates of each interval. ITL is the mean gap of the requests that ended. */
function ratesOver({ log, endUs }: RunRecord, intervals: number): PictureRates[] {
  const { arrivals, completions, outputTokens, intervalUs } = overTime(log, {
    endUs,
    intervals,
    slo: {},
  });
  const columns = (): number[][] => Array.from({ length: intervals }, () => []);
  const [ttft, itl] = [columns(), columns()];
  const [rejected, misfits, failed] = [columns(), columns(), columns()];
  const unserved = new Map([
    [REJECTED, rejected],
    [REFUSED, misfits],
    [FAILED, failed],
  ]);
  const put = (into: number[][], atUs: Micros, value: number): void => {
    if (atUs !== NEVER) into[Math.min(intervals - 1, Math.floor(atUs / intervalUs))]!.push(value);
  };
  for (let row = 0; row < log.count; row++) {
    const [arrivalUs, firstUs] = [log.arrivalUs.at(row), log.firstTokenUs.at(row)];
    put(ttft, firstUs, firstUs - arrivalUs);
    if (log.emittedTokens[row]! > 1) put(itl, log.finishUs.at(row), tpotOf(log, row));
    const ends = unserved.get(log.outcome[row]);
    if (ends !== undefined) put(ends, arrivalUs, row);
  }
  const seconds = usToSeconds(intervalUs);
  return ttft.map((firsts, i) => ({
    ttftMs: quantiles(firsts),
    itlMs: quantiles(itl[i]!),
    tokensPerSecond: outputTokens[i]!,
    requestsPerSecond: arrivals[i]!,
    finishedPerSecond: completions[i]!,
    refusedPerSecond: rejected[i]!.length / seconds,
    misfitsPerSecond: misfits[i]!.length / seconds,
    failedPerSecond: failed[i]!.length / seconds,
    refusals: [],
  }));
}

function quantiles(us: readonly number[]): PictureRates['ttftMs'] {
  if (us.length === 0) return null;
  const ascending = Float64Array.from(us).sort();
  return {
    p50: usToMs(quantile(ascending, MEDIAN)),
    p99: usToMs(quantile(ascending, TAIL)),
  };
}
