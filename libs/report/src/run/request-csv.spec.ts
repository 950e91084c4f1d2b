import { NEVER, outcomeCode, type RunRecord } from '@baton/analysis';
import { describe, expect, it } from 'vitest';
import { testRun } from '../../test/test-run';
import { requestCsv } from './request-csv';

function rowsOf(run: RunRecord, ttft?: number): Record<string, string>[] {
  const text = [...requestCsv(run, ttft === undefined ? undefined : { ttft })].join('');
  const [head = [], ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? 'absent'])));
}

describe('the CSV of requests', () => {
  const run = testRun({ requests: 3_000, roles: ['prefill', 'decode'] });

  it('has a row for each request, in order, for any size of pieces', () => {
    const rows = rowsOf(run);
    expect(rows.map((row) => row['request'])).toEqual(rows.map((_row, i) => String(i)));
    expect(rows).toHaveLength(3_000);
    expect(rows.flatMap((row) => Object.values(row))).not.toContain('absent');
  });

  it('has instants in µs whose differences are the latencies in ms', () => {
    for (const row of rowsOf(run)) {
      const spanUs = (from: string, until: string): number =>
        Number(row[until]) - Number(row[from]);
      expect(Number(row['ttft_ms'])).toBeCloseTo(spanUs('arrival_us', 'first_token_us') / 1_000, 6);
      expect(Number(row['e2el_ms'])).toBeCloseTo(spanUs('arrival_us', 'finish_us') / 1_000, 6);
      if (row['emitted_tokens'] === '1') expect(row['tpot_ms']).toBe('');
    }
  });

  it('has engines, outcomes and SLO attainment', () => {
    const rows = rowsOf(run, 500_000);
    expect(rows[0]).toMatchObject({ prefill_engine: 'prefill-0', decode_engine: 'decode-1' });
    expect(rows[7]).toMatchObject({ outcome: 'rejected', meets_slo: 'false' });
    const completed = rows.filter((row) => row['outcome'] === 'completed');
    for (const row of completed) {
      expect(row['meets_slo']).toBe(String(Number(row['ttft_ms']) <= 500));
    }
    expect(rowsOf(run)[0]?.['meets_slo']).toBe('');
  });

  it('has empty cells for missing events', () => {
    const idle = testRun({ requests: 1, roles: ['aggregated'] });
    idle.log.outcome[0] = outcomeCode('unfinished');
    idle.log.firstTokenUs.set(0, NEVER);
    idle.log.finishUs.set(0, NEVER);
    expect(rowsOf(idle)[0]).toMatchObject({
      held_us: '',
      transfer_end_us: '',
      first_token_us: '',
      finish_us: '',
      ttft_ms: '',
      tpot_ms: '',
      e2el_ms: '',
    });
  });
});
