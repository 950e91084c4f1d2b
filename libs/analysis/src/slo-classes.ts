import { usToSeconds } from '@baton/kernel';
import { type Distribution, distributionOf } from './distribution';
import { share } from './engine-summary';
import { eachLatency } from './latencies';
import { type Ordered, orderedOf } from './ordered';
import { NEVER } from './instants';
import { outcomeCode, type RequestLog } from './request-log';
import { roundTo } from './round-to';
import type { RunRecord } from './run-record';
import { formatSlo, sloTest, type Slo } from './slo';

/** A group of requests and its objectives. */
export interface ClassObjectives {
  readonly name: string;
  /** Without objectives every completed request is good. */
  readonly slo: Slo;
}

/** The SLO classes of a run. */
export interface ClassOptions {
  readonly classes: readonly ClassObjectives[];
  /** The name of the class of a row. */
  readonly classOf: (row: number) => string;
}

/** The figures of a class. docs/flow-control.md defines each name. */
export interface ClassSummary {
  readonly name: string;
  readonly requests: number;
  readonly completed: number;
  readonly rejected: number;
  readonly slo: string | null;
  readonly slo_attainment: number | null;
  readonly goodput_rps: number | null;
  readonly ttft_ms: Distribution;
  readonly tpot_ms: Distribution;
  /** Wait of the requests that flow control passed on. Unset without flow control. */
  readonly flow_wait_ms?: Distribution;
}

export function classSummaries(
  { log, endUs }: RunRecord,
  { classes, classOf }: ClassOptions,
): readonly ClassSummary[] {
  return classes.map(({ name, slo }) => {
    const isOurs = (row: number): boolean => classOf(row) === name;
    const isGood = sloTest(log, slo);
    const count = (isMeant: (row: number) => boolean): number => countRows(log, isOurs, isMeant);
    const requests = count(() => true);
    const good = count(isGood);
    const latencies = eachLatency(log, distributionOf, isOurs);
    const waits = waitsOf(log, isOurs);
    return {
      name,
      requests,
      completed: count((row) => log.outcome[row] === outcomeCode('completed')),
      rejected: count((row) => log.outcome[row] === outcomeCode('rejected')),
      slo: formatSlo(slo) || null,
      slo_attainment: share(good, requests),
      goodput_rps: roundTo(good / usToSeconds(endUs), 6),
      ttft_ms: latencies.ttftUs,
      tpot_ms: latencies.tpotUs,
      ...(waits && { flow_wait_ms: distributionOf(waits) }),
    };
  });
}

type Rows = (row: number) => boolean;

function countRows(log: RequestLog, isOurs: Rows, isMeant: Rows): number {
  let count = 0;
  for (let row = 0; row < log.count; row++) if (isOurs(row) && isMeant(row)) count++;
  return count;
}

/** Waits in flow control. */
function waitsOf(log: RequestLog, isOurs: Rows): Ordered | undefined {
  const { passedUs, arrivalUs } = log;
  if (passedUs === undefined) return undefined;
  const isCounted = (row: number): boolean => isOurs(row) && passedUs.at(row) !== NEVER;
  return orderedOf(log, isCounted, (row) => passedUs.at(row) - arrivalUs.at(row));
}
