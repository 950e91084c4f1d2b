import { parseSlo, summarise } from '@baton/analysis';
import { describe, expect, it } from 'vitest';
import { testRun } from '../../test/test-run';
import { consoleSummary } from './console-summary';

const RUN = testRun({ requests: 500, roles: ['prefill', 'decode', 'decode'] });

function printed(slo?: string): string {
  const objectives = slo === undefined ? {} : { slo: parseSlo(slo) };
  return consoleSummary(summarise(RUN, { ...objectives, seed: 1, wallSeconds: 0.25 }), 'A run');
}

describe('a result on the console', () => {
  it('shows requests, throughput, latencies and engines', () => {
    const lines = printed().split('\n');
    expect(lines[0]).toBe('A run');
    expect(lines).toContain('requests    500: 499 completed, 1 rejected');
    const heads = lines.map((line) => line.split(/ {2,}/)[0]);
    for (const head of ['latency', 'TTFT', 'TPOT', 'ITL', 'E2EL', '1 prefill', '2 decode']) {
      expect(heads).toContain(head);
    }
    expect(printed()).not.toContain('goodput');
  });

  it('shows goodput and the attainment of each objective', () => {
    expect(printed('ttft=500ms')).toMatch(
      /goodput +[\d.]+ \[[\d.]+, [\d.]+\] requests\/s, .*\n +[\d.]+ % \[.*\] meet ttft=500ms/,
    );
  });

  it('shows how full batches and steps are, as shares of their limits', () => {
    const line = printed()
      .split('\n')
      .find((each) => each.startsWith('1 prefill'));
    expect(line).toContain(' 64 (25 %) ');
    expect(line).toContain(' 420 (20.5 %) ');
  });

  it('shows the interval of each latency below it, in the same unit', () => {
    const { ttft_ms, intervals } = summarise(RUN, { seed: 1, wallSeconds: 0.25 });
    const lines = printed().split('\n');
    const at = lines.findIndex((line) => line.startsWith('TTFT'));
    const ends = intervals.ttft_ms.p50!.map((ms) => Math.round(ms)).join(', ');
    expect(lines[at]).toContain(` ${Math.round(ttft_ms.p50!)} ms `);
    expect(lines[at + 1]).toContain(` [${ends}] `);
    expect(printed()).toMatch(/^intervals +80 %/m);
  });

  it('lines columns up and has no trailing blank', () => {
    const table = printed()
      .split('\n')
      .filter((line) => /^(latency|TTFT|TPOT|ITL|E2EL)/.test(line));
    expect(new Set(table.map((line) => line.length)).size).toBe(1);
    expect(printed()).not.toMatch(/ \n/);
  });

  it('fits a terminal of 100 columns', () => {
    const longest = Math.max(
      ...printed('ttft=500ms,tpot=40ms')
        .split('\n')
        .map((line) => line.length),
    );
    expect(longest).toBeLessThanOrEqual(100);
  });
});
