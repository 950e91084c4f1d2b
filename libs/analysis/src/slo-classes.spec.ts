import { describe, expect, it } from 'vitest';
import { IntervalHistogram } from './interval-histogram';
import { outcomeCode, RequestLog } from './request-log';
import type { RunRecord } from './run-record';
import { classSummaries } from './slo-classes';

/** Rows with their TTFT in ms, each ending a second after it. Null: rejected. */
function runOf(ttftMs: readonly (number | null)[], hasFlowControl = false): RunRecord {
  const log = new RequestLog(ttftMs.length, { hasFlowControl });
  ttftMs.forEach((ms, row) => {
    log.arrivalUs.set(row, row * 1_000);
    log.outcome[row] = outcomeCode(ms === null ? 'rejected' : 'completed');
    if (ms === null) return;
    if (log.passedUs) log.passedUs.set(row, log.arrivalUs.at(row) + 10_000 * row);
    log.firstTokenUs.set(row, log.arrivalUs.at(row) + ms * 1_000);
    log.finishUs.set(row, log.firstTokenUs.at(row) + 1_000_000);
    log.emittedTokens[row] = 11;
  });
  return { log, endUs: 2_000_000, itl: new IntervalHistogram() } as unknown as RunRecord;
}

const CLASSES = [
  { name: 'gold', slo: { ttft: 100_000, tpot: 200_000 } },
  { name: 'rest', slo: {} },
];
const OPTIONS = { classes: CLASSES, classOf: (row: number) => (row < 3 ? 'gold' : 'rest') };

describe('the summary by SLO class', () => {
  it('counts the rows of each class by its own targets', () => {
    const [gold, rest] = classSummaries(runOf([50, 150, null, 900, 900]), OPTIONS);
    expect(gold).toMatchObject({
      name: 'gold',
      requests: 3,
      completed: 2,
      rejected: 1,
      slo: 'ttft=100ms,tpot=200ms',
      slo_attainment: 0.333333,
      goodput_rps: 0.5,
    });
    expect(gold?.ttft_ms.mean).toBe(100);
    expect(gold?.tpot_ms.max).toBe(100);
    expect(rest).toMatchObject({ requests: 2, slo: null, slo_attainment: 1, goodput_rps: 1 });
    expect(gold).not.toHaveProperty('flow_wait_ms');
  });

  it('has the wait of the requests that passed flow control', () => {
    const [gold] = classSummaries(runOf([50, 150, null, 900], true), OPTIONS);
    expect(gold?.flow_wait_ms).toMatchObject({ mean: 5, max: 10 });
  });
});
