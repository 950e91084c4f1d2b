import { spawnSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { metricsIn, ownBoardQueries, ownRules } from '../support/board-queries';
import { filesBelow, read, readJson, ROOT } from './repository';

const TESTS = filesBelow('deploy/prometheus/tests');
const BOARDS = filesBelow('deploy/grafana/dashboards');

describe('deploy/prometheus', () => {
  it('tests every alert', () => {
    const tests = TESTS.map((path) => read(path)).join('');
    const alerts = ownRules().flatMap(({ alert }) => alert ?? []);
    expect(alerts.length).toBeGreaterThan(10);
    expect(alerts.filter((alert) => !tests.includes(`alertname: ${alert}\n`))).toEqual([]);
  });

  it('describes the remedy of every alert', () => {
    const alerts = ownRules().filter(({ alert }) => alert !== undefined);
    const silent = alerts.filter(({ annotations = {} }) => !annotations['description']);
    expect(silent.map(({ alert }) => alert)).toEqual([]);
  });

  it('selects only series of its job, and keeps their namespaces apart', () => {
    const rules = ownRules().map(({ expr }) => expr);
    const loose = rules.flatMap((expr) =>
      [
        ...expr.matchAll(
          /\b((?:vllm|baton|stage|cluster):[\w:]+|http_\w+|up)(?![\w:]|\{job="baton")/g,
        ),
      ].map(([name]) => name),
    );
    expect(loose).toEqual([]);
    const merging = rules.filter((expr) =>
      /(by|on) \((?!namespace, job)|\b(sum|max|avg)\(/.test(expr),
    );
    expect(merging).toEqual([]);
  });

  it('finds containers by the names of their services, at the ports they serve', () => {
    const { scrape_configs: jobs } = parse(read('deploy/prometheus/prometheus.yml')) as {
      scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[];
    };
    const compose = parse(read('docker-compose.yml'), { merge: true }) as {
      services: Record<string, { environment?: Record<string, unknown> }>;
    };
    const sought = jobs.flatMap(({ dns_sd_configs: found }) => found);
    expect(sought.flatMap(({ names }) => names)).toEqual(['api', 'prefill', 'decode']);
    for (const { names, port } of sought) {
      for (const name of names) {
        const served = compose.services[name]?.environment?.['BATON_WORKER_PORT'] ?? 8000;
        expect(port).toBe(served);
      }
    }
  });
});

describe('deploy/grafana', () => {
  it('has the boards of its code (node deploy/grafana/build.mjs)', () => {
    const build = join(ROOT, 'deploy/grafana/build.mjs');
    const { stdout, stderr } = spawnSync(process.execPath, [build, '--print'], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const made = JSON.parse(stdout) as Record<string, string>;
    expect(Object.keys(made).sort()).toEqual(BOARDS.map((path) => basename(path)).sort());
    for (const path of BOARDS) expect(read(path)).toBe(made[basename(path)]);
  });

  it('shows series of one job and of the chosen namespaces alone', () => {
    const selected = /\{namespace=~"\$namespace",job=~"\$job\(-worker\)\?"/;
    for (const { expr } of ownBoardQueries()) {
      for (const name of metricsIn(expr)) {
        const uses = expr.split(name).slice(1);
        expect(uses.filter((rest) => !/^\w/.test(rest) && rest.search(selected) !== 0)).toEqual([]);
      }
    }
  });

  it('shows a number or nothing without traffic: no query divides by a rate that may be 0', () => {
    const asked = ownBoardQueries().map(({ expr }) => expr);
    expect(asked.filter((expr) => expr.includes(' / '))).not.toEqual([]);
    expect(asked.filter((expr) => / \/ (?!\(.* > 0\))/.test(expr))).toEqual([]);
    expect(asked.filter((expr) => /^histogram_quantile(?!.* >= 0$)/.test(expr))).toEqual([]);
  });

  it('has panels side by side, each with a title and a query of its own name', () => {
    for (const path of BOARDS) {
      const { panels, uid } = readJson(path) as { panels: Panel[]; uid: string };
      expect(`${uid}.json`).toBe(basename(path));
      const taken = new Set<string>();
      for (const { title, type, gridPos, targets = [] } of panels) {
        expect(title).not.toBe('');
        expect(targets.length > 0 || type === 'row', title).toBe(true);
        expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
        expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
        const place = `${gridPos.x} ${gridPos.y}`;
        expect(taken.has(place), `${title} lies on another panel`).toBe(false);
        taken.add(place);
      }
    }
  });

  it('splits the first token, and shows each pool, the hand-over and goodput', () => {
    const asked = ownBoardQueries().map(({ expr }) => expr);
    for (const metric of [
      'baton:time_to_first_token_part_seconds_sum',
      'baton:requests_good_total',
      'baton:waiting_sequences',
      'vllm:num_requests_running',
      'vllm:kv_cache_usage_perc',
      'baton:kv_handoffs',
      'vllm:inter_token_latency_seconds_bucket',
    ]) {
      expect(
        asked.some((expr) => expr.includes(metric)),
        metric,
      ).toBe(true);
    }
  });
});

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number };
  readonly targets?: readonly { readonly refId: string }[];
}
