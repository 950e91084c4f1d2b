import { benchmarkFigures, type BenchmarkRecord, OBJECTIVES } from '@baton/analysis';
import { describe, expect, it } from 'vitest';
import { htmlReport } from '../html/page';
import type { KeyValuesSection, TableSection } from '../sections';
import { testRun } from '../../test/test-run';
import { benchmarkReport } from './benchmark-report';
import { consoleBenchmark } from './console-benchmark';

const SLO = { ttft: 500_000, tpot: 30_000 };

function recordOf(
  reason: string | null,
  wrong: BenchmarkRecord['lateness']['void_figures'] = [],
): BenchmarkRecord {
  const delay = { p50: 0.2, p99: 1.5, max: 3 };
  return {
    ...testRun({ requests: 50, roles: ['aggregated'] }),
    engines: [],
    itlSquareSum: 1e12,
    peakOutputTokensPerSecond: 99,
    lateness: {
      schedule_lag_ms: delay,
      event_loop_delay_ms: delay,
      cpu_share: 0.25,
      void: reason,
      void_figures: wrong,
    },
    failures: [{ error: 'http_429', count: 3, example: '<b>too many</b>' }],
    countedBy: { usage: 46, events: 3 },
    promptUsage: { tokens: 0, requests: 0 },
  };
}

function figuresOf(run: BenchmarkRecord) {
  return benchmarkFigures(run, { metrics: OBJECTIVES, percentiles: [90, 99.9], slo: SLO });
}

describe('the report of a load run', () => {
  it(
    'is the table of vllm bench serve, line for line, with the generator’s own error ' + 'below',
    () => {
      const run = recordOf(null);
      const benchmark = { run, figures: figuresOf(run), percentiles: [90, 99.9], slo: SLO };
      const lines = consoleBenchmark({ ...benchmark, maxConcurrency: 8, requestRate: 4 }).split(
        '\n',
      );
      expect(lines.slice(0, 5)).toEqual(
        [
          '============ Serving Benchmark Result ============',
          'Successful requests:                     49       ',
          'Failed requests:                         1        ',
          'Maximum request concurrency:             8        ',
          'Request rate configured (RPS):           4.00     ',
        ].map((line) => line.trimEnd()),
      );
      const names = lines.map((line) => line.replace(/: .*/, ':'));
      expect(names).toEqual(
        expect.arrayContaining([
          '---------------Time to First Token----------------',
          'Mean TTFT (ms):',
          'P99.9 TTFT (ms):',
          '-----Time per Output Token (excl. 1st token)------',
          'P90 E2EL (ms):',
          'Request goodput (req/s):',
          'Peak output token throughput (tok/s):',
        ]),
      );
      expect(lines).toContain('http_429:                                3  <b>too many</b>');
      expect(lines).toContain('Answers without usage:                   3, one token per event');
      expect(lines.join('\n')).not.toContain('VOID');
      expect(lines.every((line) => line.length < 100)).toBe(true);
    },
  );

  it('is a page of client-side figures that shows when the run is void', () => {
    const run = recordOf('it was late', [...OBJECTIVES, 'throughput']);
    const page = benchmarkReport({
      run,
      figures: figuresOf(run),
      slo: SLO,
      title: 'Bench',
      subtitle: 'here',
      settings: { backend: 'openai', workload: { source: 'random' } },
    });
    const titles = (isFolded: boolean): string[] =>
      page.sections
        .filter((section) => (section.isFolded === true) === isFolded)
        .map(({ title }) => title.split(':')[0]!);
    expect(titles(false)).toEqual([
      ...['Failures', 'Latency', 'TTFT', 'TPOT', 'ITL', 'Goodput', 'Throughput'],
    ]);
    expect(titles(true)).toEqual([
      ...['Summary', 'E2EL', 'Requests from sending to last token', 'Load generator', 'Settings'],
    ]);
    const html = htmlReport(page);
    expect(page.answer).toMatchObject({ verdict: 'void' });
    expect(html).toContain('<title>VOID: Bench</title>');
    expect(html).toContain('VOID: do not use these figures');
    expect(html).toContain('it was late');
    expect(html).toContain('&lt;b&gt;too many');
    expect(html).not.toContain('simulated');
    expect(html).not.toContain('per GPU');
  });

  it('marks only the figures that lateness makes wrong', () => {
    const run = recordOf('it was late', ['ttft', 'e2el', 'throughput']);
    const figures = figuresOf(run);
    const parts = { slo: SLO, maxConcurrency: undefined, requestRate: undefined };
    const lines = consoleBenchmark({ run, figures, percentiles: [90], ...parts }).split('\n');
    const marked = lines.filter((line) => line.endsWith('  VOID'));
    expect(marked.map((line) => line.replace(/ \(.*/, ''))).toEqual([
      ...['Request throughput', 'Request goodput', 'Output token throughput'],
      ...['Peak output token throughput', 'Total token throughput'],
      ...['Mean TTFT', 'Median TTFT', 'P90 TTFT', 'Mean E2EL', 'Median E2EL', 'P90 E2EL'],
    ]);
    expect(lines).toContain('VOID: TTFT, E2EL, throughput: it was late.');
    const { answer, sections } = benchmarkReport({
      ...{ run, figures, slo: SLO, title: '', subtitle: '', settings: {} },
    });
    const latencies = sections.find(({ title }) => title === 'Latency') as TableSection;
    const names = latencies.rows.map(([name]) => String(name).replace(/, .*?(?= \(|$)/, ''));
    expect(names).toEqual(['TTFT (VOID)', 'TPOT', 'ITL', 'E2EL (VOID)']);
    expect(answer).toMatchObject({
      verdict: 'doubt',
      headline: '✖ VOID: TTFT, E2EL, throughput',
      sentence: expect.stringContaining('The other figures are valid.') as string,
    });
    expect(answer?.figures.map(([name]) => name)).toEqual([
      ...['requests/s (VOID)', 'TTFT p50 (VOID)', 'TPOT p50'],
    ]);
  });

  it('marks the goodput when a latency of its objectives is void', () => {
    const marked = (wrong: 'tpot' | 'e2el'): { lines: boolean; tile: boolean } => {
      const run = recordOf('it was late', [wrong]);
      const figures = figuresOf(run);
      const parts = { slo: SLO, maxConcurrency: undefined, requestRate: undefined };
      const text = consoleBenchmark({ run, figures, percentiles: [90], ...parts });
      const { sections } = benchmarkReport({
        ...{ run, figures, slo: SLO, title: '', subtitle: '', settings: {} },
      });
      const tiles = sections.find(({ title }) => title === 'Summary') as KeyValuesSection;
      return {
        lines: /Request goodput .* VOID$/m.test(text),
        tile: tiles.entries.some(([name]) => name === 'goodput, requests/s (VOID)'),
      };
    };
    expect(marked('tpot')).toEqual({ lines: true, tile: true });
    expect(marked('e2el')).toEqual({ lines: false, tile: false });
  });

  it('has around each figure the range of another sample of the load', () => {
    const run = recordOf(null);
    const page = benchmarkReport({
      run,
      figures: figuresOf(run),
      slo: SLO,
      title: '',
      subtitle: '',
      settings: {},
    });
    const tiles = page.sections.find(({ title }) => title === 'Summary') as KeyValuesSection;
    const names = ['requests/s', 'output tokens/s', 'goodput, requests/s', 'TTFT p50', 'TPOT p50'];
    const figures = [...(page.answer?.figures ?? []), ...tiles.entries];
    for (const name of names) {
      const shown = figures.filter(([each]) => each === name).flatMap(([, ...texts]) => texts);
      expect([name, shown.length > 0]).toEqual([name, true]);
      for (const text of shown) expect(text).toMatch(/\[[\d.,]+, [\d.,]+\]/);
    }
    const html = htmlReport(page);
    expect(html).toContain('Intervals: 80 %, in brackets: another sample of this load');
    expect(html).toContain('the figures are measured');
    expect(html).not.toContain('step times are taken as given');
  });

  it('draws at most one point per second of the run', () => {
    const run = { ...recordOf(null), endUs: 30e6 };
    const page = benchmarkReport({
      run,
      figures: figuresOf(run),
      slo: undefined,
      title: '',
      subtitle: '',
      settings: {},
    });
    const [requests] = page.sections.filter(({ title }) => title === 'Requests');
    expect(requests).toMatchObject({ xs: { length: 30 } });
  });
});
