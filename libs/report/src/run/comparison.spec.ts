import {
  comparedLatencies,
  compareRuns,
  type ComparedRuns,
  summarise,
  type RunRecord,
} from '@baton/analysis';
import { describe, expect, it } from 'vitest';
import { htmlReport } from '../html/page';
import type { LineChartSection } from '../sections';
import { testRun } from '../../test/test-run';
import { type ComparisonReport, comparisonSections } from './comparison-sections';
import { consoleComparison } from './console-comparison';
import { runReport } from './run-report';

const roles = ['prefill', 'decode'] as const;
const RUN = testRun({ requests: 300, roles });

/** The run as a recording whose first tokens arrived `lateMs` after their stamps. */
function comparedWith(run: RunRecord, lateMs: number): ComparisonReport {
  const { log: stamped, itl } = testRun({ requests: 300, roles });
  const { log: seen } = testRun({ requests: 300, roles });
  for (let row = 0; row < seen.count; row++)
    seen.firstTokenUs.set(row, seen.firstTokenUs.at(row) + lateMs * 1_000);
  const runs: ComparedRuns = { recorded: { seen, stamped, itl, speedup: 1 }, simulated: run };
  const latencies = comparedLatencies(runs);
  return { runs, latencies, comparison: compareRuns(runs, latencies) };
}

describe('a comparison on the console', () => {
  const text = consoleComparison(comparedWith(RUN, 2).comparison);

  it('has a line for each figure, with the error of the simulated one', () => {
    const lines = text.split('\n');
    const itl = lines.find((line) => line.startsWith('ITL p99'))!;
    expect(itl.split(/ {2,}/)).toHaveLength(4);
    expect(itl).toMatch(/ 0\.0 %$/);
    expect(lines.find((line) => line.startsWith('TTFT mean'))).toMatch(/ -0\.\d %$/);
    expect(lines.find((line) => line.startsWith('output tokens/s'))).toMatch(/ 0\.0 %$/);
  });

  it('reports the lateness of tokens, and is marked as void first when it is too large', () => {
    expect(text).toContain('Over 299 requests.\n');
    expect(text).toContain('First tokens reached the API 2 ms after their stamp (p99 2 ms).\n');
    const late = consoleComparison(comparedWith(RUN, 9).comparison);
    expect(late).toMatch(/^\nVOID: do not use these figures\. The machine did not keep up while/);
    expect(late).toContain('p99 9 ms');
  });

  it('fits a terminal of 100 columns and has no trailing blank', () => {
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(text).not.toMatch(/ \n/);
  });
});

describe('a comparison in a report', () => {
  it('makes the verdict void when the machine did not keep up with the recording', () => {
    const slo = { ttft: 1e9 };
    const summary = summarise(RUN, { seed: 1, wallSeconds: 1, slo });
    const parts = { run: RUN, summary, slo, title: 'A replay', subtitle: 'of a run', defaults: {} };
    const verdictAfter = (lateMs: number): string | undefined =>
      runReport({ ...parts, compared: comparedWith(RUN, lateMs) }).answer?.verdict;
    expect([verdictAfter(2), verdictAfter(9)]).toEqual(['met', 'void']);
  });

  it('draws the curves of both runs over the same latencies', () => {
    const charts = comparisonSections(comparedWith(RUN, 100)).slice(1) as LineChartSection[];
    expect(charts.map(({ title }) => title)).toEqual(
      ['TTFT', 'TPOT', 'ITL', 'E2EL'].map((name) => `${name} recorded and simulated`),
    );
    for (const { xs, series } of charts) {
      for (const { values } of series) {
        expect(values).toHaveLength(xs.length);
        expect(values).toEqual([...values].sort((a, b) => a! - b!));
        expect(values.at(-1)).toBe(100);
      }
    }
    const [recorded, simulated] = charts[0]!.series;
    recorded!.values.forEach((share, i) => {
      expect(share).toBeLessThanOrEqual(simulated!.values[i]!);
    });
  });

  it('follows the summary of a page below 2 MiB', () => {
    const summary = summarise(RUN, { seed: 1, wallSeconds: 1 });
    const parts = {
      run: RUN,
      summary,
      slo: {},
      title: 'A replay',
      subtitle: 'of a run',
      defaults: {},
    };
    const page = runReport({ ...parts, compared: comparedWith(RUN, 3) });
    expect(page.sections[0]?.title).toBe('Recorded against simulated');
    expect(htmlReport(page).length).toBeLessThan(2 ** 21);
  });
});
