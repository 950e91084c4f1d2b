import { Counter, Gauge, Histogram, Registry, Summary } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { parsePage } from './page';
import { exposed, familiesOf, mergedFamilies, type MetricFamily, readNumber } from './registry';

/** What one of several processes has counted. */
function familiesWith(requests: number, memory: number): Promise<MetricFamily[]> {
  const registers = [new Registry()];
  const labelNames = ['engine'] as const;
  const success = new Counter({ name: 'success_total', help: 'S.', labelNames, registers });
  success.inc({ engine: '0' }, requests);
  const latency = new Histogram({
    ...{ name: 'latency_seconds', help: 'L.', labelNames, registers },
    buckets: [1, 2.5, 1_000_000],
  });
  for (let i = 0; i < requests; i += 1) latency.observe({ engine: '0' }, 2);
  const sizes = new Summary({ name: 'size_bytes', help: 'B.', percentiles: [], registers });
  sizes.observe(memory);
  new Gauge({ name: 'memory_bytes', help: 'M.', registers }).set(memory);
  new Gauge({ name: 'depth', help: 'D.', aggregator: 'first', registers }).set(memory);
  new Counter({ name: 'lost_total', help: 'E.', aggregator: 'max', registers }).inc();
  return familiesOf(registers[0]!);
}

const LINES = (text: string): string[] =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe('the families of several API processes', () => {
  it('are one page: sums of what each counted, and the gauges of the cluster once', async () => {
    const page = await exposed([await familiesWith(2, 100), await familiesWith(3, 7)]);
    expect(LINES(page)).toEqual([
      'success_total{engine="0"} 5',
      'latency_seconds_bucket{engine="0",le="1.0"} 0',
      'latency_seconds_bucket{engine="0",le="2.5"} 5',
      'latency_seconds_bucket{engine="0",le="1e+06"} 5',
      'latency_seconds_bucket{engine="0",le="+Inf"} 5',
      'latency_seconds_sum{engine="0"} 10',
      'latency_seconds_count{engine="0"} 5',
      'size_bytes_sum 107',
      'size_bytes_count 2',
      'memory_bytes 107',
      'depth 100',
      'lost_total 1',
    ]);
  });

  it('keep a series and a family that one of them alone has', async () => {
    const registry = new Registry();
    readNumber(registry, { name: 'alone', help: 'A.', type: 'gauge', read: () => 4 });
    const labels = { engine: '1' };
    const success = { name: 'success_total', help: 'S.', type: 'counter' } as const;
    const other = { ...success, aggregator: 'sum' as const, values: [{ labels, value: 9 }] };
    const page = await exposed([
      await familiesWith(2, 100),
      [...(await familiesOf(registry)), other],
    ]);
    expect(LINES(page)).toEqual(expect.arrayContaining(['alone 4', 'success_total{engine="1"} 9']));
    expect(LINES(page)).toContain('success_total{engine="0"} 2');
  });

  it('survive the way to another process, also merged', async () => {
    const kept = mergedFamilies([await familiesWith(2, 1), await familiesWith(3, 1)]);
    const sent = JSON.parse(JSON.stringify(kept)) as MetricFamily[];
    const page = await exposed([sent, await familiesWith(1, 1)]);
    expect(LINES(page)).toContain('success_total{engine="0"} 6');
    expect(LINES(page)).toContain('latency_seconds_bucket{engine="0",le="+Inf"} 6');
  });
});

describe('the families of a registry', () => {
  it('have the labels of engines in place of their ids, without engines that are not shown', async () => {
    const registers = [new Registry()];
    const labelNames = ['engine_id', 'reason'] as const;
    const success = new Counter({ name: 'success_total', help: 'S.', labelNames, registers });
    for (const engine_id of ['a', 'b']) success.inc({ engine_id, reason: 'stop' });
    const labelsOf = new Map([['b', { engine: '1', model_name: 'm' }]]);
    const page = await exposed([await familiesOf(registers[0]!, labelsOf)]);
    expect(LINES(page)).toEqual(['success_total{engine="1",model_name="m",reason="stop"} 1']);
  });
});

describe('a page', () => {
  it('is the same when it is read and written again', async () => {
    const page = await exposed([await familiesWith(2, 100)]);
    expect(await exposed([parsePage(page)])).toBe(page);
  });

  it('keeps quotes, backslashes and line ends in labels', async () => {
    const registers = [new Registry()];
    const gauge = new Gauge({ name: 'x', help: 'X.', labelNames: ['text'], registers });
    gauge.set({ text: 'a "b" \\ c\nd' }, 1);
    const page = await exposed([await familiesOf(registers[0]!)]);
    expect(LINES(page)).toEqual(['x{text="a \\"b\\" \\\\ c\\nd"} 1']);
    expect(parsePage(page)[0]!.values[0]!.labels).toEqual({ text: 'a "b" \\ c\nd' });
  });
});
