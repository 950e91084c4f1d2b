import { readFileSync } from 'node:fs';
import { parseSlo, summarise } from '@baton/analysis';
import { describe, expect, it } from 'vitest';
import { isChart, MOST_CHARTS } from '../fold';
import { runReport } from '../run/run-report';
import type { ReportPage, ReportSection } from '../sections';
import { settingsSections } from '../settings-sections';
import { testRun } from '../../test/test-run';
import { htmlReport } from './page';

const SLO = parseSlo('ttft=500ms,tpot=40ms');
const MEBIBYTE = 2 ** 20;

function pageOf(sections: readonly ReportSection[], title = 'Title'): string {
  return htmlReport({ title, subtitle: 'below', sections });
}

function reportOf(requests: number, engines: number): ReportPage {
  const roles = Array.from({ length: engines }, (_none, i) => (i % 2 === 0 ? 'prefill' : 'decode'));
  const run = testRun({ requests, roles: roles as ('prefill' | 'decode')[], samples: 2_000 });
  const config = { model: 'llama-3.1-8b', text: '</script><b>' };
  const summary = summarise(run, { slo: SLO, seed: 1, wallSeconds: requests / 1e5, config });
  return runReport({ run, summary, slo: SLO, title: 'A run', subtitle: 'of a test', defaults: {} });
}

const CHART: ReportSection = {
  kind: 'lineChart',
  title: 'Chart',
  x: { label: 'time' },
  y: { label: 'rate' },
  xs: [1, 2],
  series: [{ name: 'a</script>', values: [1.23456789, null], tone: 'prefill' }],
};

describe('the order of a page', () => {
  it('is the answer, then at most five open charts, and the rest folded', () => {
    const page = reportOf(200, 4);
    expect(page.answer!.figures.length).toBeLessThanOrEqual(3);
    const open = page.sections.filter(({ isFolded }) => isFolded !== true);
    expect(open.filter(isChart).length).toBe(MOST_CHARTS);
    expect(open.length).toBeLessThan(page.sections.length);
    const html = htmlReport(page);
    expect(html.indexOf('aria-label="Answer"')).toBeLessThan(html.indexOf('id="section-0"'));
    expect(html.split('<details>').length - 1).toBe(page.sections.length - open.length);
  });

  it('lists changed options with their defaults, and folds the defaults', () => {
    const [changed, defaults] = settingsSections(
      'Configuration',
      { seed: 3, gpu: 'h100' },
      { seed: 0, gpu: 'h100' },
    );
    expect(changed!.entries).toEqual([['seed', '3', 'default 0']]);
    expect(defaults!.entries).toEqual([['gpu', 'h100']]);
  });
});

describe('a command to copy', () => {
  it('breaks between its words only, and reads as one line', () => {
    const command = `bin/baton up 2A --tensor-parallel-size 2 --faults '{"a": "<b>"}'`;
    const html = pageOf([{ kind: 'commands', title: 'Start it', commands: [command] }]);
    const [, shown = ''] = /<pre><code>(.*)<\/code><\/pre>/.exec(html) ?? [];
    expect(shown).toContain('<span>--tensor-parallel-size</span> <span>2</span>');
    expect(html).toContain('.commands span{white-space:nowrap}');
    const text = shown.replaceAll(/<[^>]*>/g, '').replaceAll('&quot;', '"');
    expect(text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&#39;', "'")).toBe(
      command,
    );
  });
});

describe('a page', () => {
  it('has no external references, and a policy against loading anything', () => {
    const page = htmlReport(reportOf(200, 2));
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/(src|href)=["']?(https?:)?\/\//);
    expect(page).not.toMatch(/@import|url\(/);
    expect(page).not.toContain('sourceMappingURL');
  });

  it('escapes text from any source', () => {
    const evil = '"><script>alert(1)</script>';
    const page = pageOf(
      [
        { kind: 'note', title: evil, note: evil, text: evil },
        { kind: 'table', title: evil, columns: [{ name: evil }], rows: [[evil]] },
        { kind: 'keyValues', title: evil, look: 'list', entries: [[evil, evil, evil]] },
        {
          kind: 'bars',
          title: evil,
          bars: [{ label: evil, value: 1, text: evil, tone: 'good' }],
        },
        {
          kind: 'heatMap',
          title: evil,
          rowsAre: evil,
          columnsAre: evil,
          rows: [evil],
          columns: [evil],
          values: [[1]],
          decimals: 1,
        },
      ],
      evil,
    );
    expect(page).not.toContain('<script>alert');
    expect(page).toContain('&quot;&gt;&lt;script&gt;alert(1)');
  });

  it('has chart data as JSON that cannot end its element', () => {
    const page = pageOf([CHART]);
    const [, json = ''] = /id="section-0-data">(.*?)<\/script>/s.exec(page) ?? [];
    expect(JSON.parse(json)).toMatchObject({
      xs: [1, 2],
      series: [{ name: 'a</script>', values: [1.23457, null] }],
    });
  });

  it('has scripts only with charts or timelines', () => {
    const empty: ReportSection = { ...CHART, xs: [], series: [] };
    expect(pageOf([empty])).toContain('Nothing was measured.');
    expect(pageOf([empty])).not.toContain('<script');
    expect(pageOf([CHART])).toContain('uPlot');
  });

  it('has a valid script', () => {
    const script = readFileSync(`${import.meta.dirname}/client/report-client.js`, 'utf8');
    expect(() => new Function(script)).not.toThrow();
  });

  it('marks the best cell of a heat map and leaves unknown cells empty', () => {
    const page = pageOf([
      {
        kind: 'heatMap',
        title: 'Goodput',
        rowsAre: 'prefill',
        columnsAre: 'decode',
        rows: ['1', '2'],
        columns: ['1', '2'],
        values: [
          [0.25, null],
          [1, 0.5],
        ],
        decimals: 2,
        best: [1, 0],
      },
    ]);
    expect(page).toContain('<td class="hot best" style="--heat:1.000">1.00</td>');
    expect(page).toContain('<td class="none">–</td>');
    expect(page).toContain('<td class="cool" style="--heat:0.000">0.25</td>');
  });

  it('cuts a very long table', () => {
    const rows = Array.from({ length: 2_000 }, (_none, i) => [`row ${i}`]);
    const page = pageOf([{ kind: 'table', title: 'Long', columns: [{ name: 'row' }], rows }]);
    expect(page).toContain('row 1023');
    expect(page).not.toContain('row 1024');
    expect(page).toContain('… and 976 more rows.');
  });
});

describe('the report of a run', () => {
  it('has the same bytes for the same run, for any duration of the simulation', () => {
    const run = testRun({ requests: 300, roles: ['prefill', 'decode'] });
    const pages = [0.1, 9].map((wallSeconds) => {
      const summary = summarise(run, { slo: SLO, seed: 1, wallSeconds });
      return htmlReport(
        runReport({ run, summary, slo: SLO, title: 'A run', subtitle: '', defaults: {} }),
      );
    });
    expect(pages[0]).toBe(pages[1]);
  });

  it.each([
    [300_000, 4],
    [500, 1_024],
  ])('stays below 2 MiB with %i requests on %i engines', (requests, engines) => {
    expect(htmlReport(reportOf(requests, engines)).length).toBeLessThan(2 * MEBIBYTE);
  });

  it('draws at most 500 points of a distribution, 600 of a gauge and 200 requests', () => {
    const { sections } = reportOf(5_000, 8);
    for (const section of sections) {
      if (section.kind === 'lineChart') expect(section.xs.length).toBeLessThanOrEqual(600);
      if (section.kind === 'gantt') expect(section.rows.length).toBeLessThanOrEqual(200);
      if (section.kind !== 'lineChart') continue;
      for (const { values } of section.series) expect(values.length).toBe(section.xs.length);
    }
  });

  it('without requests has no charts of latencies', () => {
    const run = testRun({ requests: 0, roles: ['aggregated'], samples: 0 });
    const summary = summarise(run, { seed: 1, wallSeconds: 0.01 });
    const page = htmlReport(
      runReport({ run, summary, slo: {}, title: 'Nothing', subtitle: '', defaults: {} }),
    );
    expect(page).toContain('Nothing was measured.');
    expect(page).not.toMatch(/NaN|Infinity/);
  });
});
