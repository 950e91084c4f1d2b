import { describe, expect, it } from 'vitest';
import { compareRuns, comparedLatencies, type RecordedRun } from './comparison';
import { IntervalHistogram } from './interval-histogram';
import { logOf, type TestRow } from '../test/test-log';

const row = (firstMs: number, lastMs: number, others: TestRow = {}): TestRow => ({
  firstTokenUs: firstMs * 1_000,
  finishUs: lastMs * 1_000,
  tokens: 11,
  ...others,
});

function gapsOf(...ms: number[]): IntervalHistogram {
  const gaps = new IntervalHistogram();
  for (const each of ms) gaps.add(each * 1_000);
  return gaps;
}

function recordedOf(seen: TestRow[], stamped: TestRow[] = seen, speedup = 1): RecordedRun {
  return { seen: logOf(seen), stamped: logOf(stamped), itl: gapsOf(10, 10), speedup };
}

describe('a recorded run against its simulation', () => {
  it('consists of the figures of both and the errors of the simulated ones', () => {
    const comparison = compareRuns({
      recorded: recordedOf([row(100, 300), row(200, 400)]),
      simulated: { log: logOf([row(90, 270), row(180, 360)]), itl: gapsOf(9, 9) },
    });
    expect(comparison.ttft_ms).toMatchObject({
      recorded: { mean: 150, p50: 150, max: 200 },
      simulated: { mean: 135 },
      error_percent: { mean: -10, p50: -10, max: -10 },
    });
    expect(comparison.tpot_ms).toMatchObject({ recorded: { mean: 20 }, simulated: { mean: 18 } });
    expect(comparison.itl_ms).toMatchObject({ stamped: null, error_percent: { mean: -10 } });
    expect(comparison.request_rps).toEqual({ recorded: 5, simulated: 5.556, error_percent: 11.12 });
    expect(comparison.output_tokens_per_second).toMatchObject({ recorded: 55, simulated: 61.111 });
  });

  it('counts the requests that completed in both', () => {
    const runs = {
      recorded: recordedOf([row(100, 300), row(100, 300), row(1, 1, { outcome: 'failed' })]),
      simulated: {
        log: logOf([row(100, 300), row(9_000, 9_000, { outcome: 'rejected' }), row(100, 300)]),
        itl: gapsOf(10),
      },
    };
    expect(compareRuns(runs)).toMatchObject({
      requests: 1,
      recorded_only: 1,
      simulated_only: 1,
      ttft_ms: { recorded: { max: 100 }, simulated: { max: 100 }, error_percent: { mean: 0 } },
    });
    expect(comparedLatencies(runs).recorded.ttftUs).toEqual(Float64Array.of(100_000));
  });

  it('measures the delay of tokens to the API in wall time, and judges it', () => {
    const simulated = { log: logOf([row(100, 300)]), itl: gapsOf(10) };
    const late = (ms: number, speedup: number) =>
      compareRuns({
        recorded: recordedOf([row(100 + ms, 300)], [row(100, 300)], speedup),
        simulated,
      });
    expect(late(4, 1)).toMatchObject({ delivery_ms: { p99: 4 }, kept_up: true });
    expect(late(12, 1)).toMatchObject({ delivery_ms: { p99: 12 }, kept_up: false });
    expect(late(12, 4)).toMatchObject({ delivery_ms: { p99: 3 }, kept_up: true });
    expect(late(4, 1).ttft_ms.stamped).toMatchObject({ mean: 100 });
  });

  it('without requests has null for every figure', () => {
    const nothing = { seen: logOf([]), stamped: logOf([]), itl: gapsOf(), speedup: 1 };
    const comparison = compareRuns({
      recorded: nothing,
      simulated: { log: logOf([]), itl: gapsOf() },
    });
    expect(comparison).toMatchObject({
      requests: 0,
      ttft_ms: { recorded: { mean: null }, error_percent: { mean: null } },
      request_rps: { recorded: null, simulated: null, error_percent: null },
    });
    expect(JSON.parse(JSON.stringify(comparison))).toEqual(comparison);
  });
});
