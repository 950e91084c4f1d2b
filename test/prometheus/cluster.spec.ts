import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BoardQuery,
  filledIn,
  metricsIn,
  ownBoardQueries,
  ownRules,
  vllmBoardQueries,
} from '../support/board-queries';
import { post, stream } from '../support/client';
import { TestCluster } from '../support/cluster';
import { PrometheusServer, type Sample } from '../support/prometheus-server';
import { waitUntil } from '../support/wait';

const CONFIG = fileURLToPath(new URL('../../deploy/prometheus/prometheus.yml', import.meta.url));
const MODEL = 'llama-3.1-8b';
/** A policy, so that decisions are counted; measured step times, so that their range is checked. */
const FLAGS = ['--placement=least-requests', '--speedup=4', '--model', MODEL];
/** A process that is stopped for a second misses a scrape: its series end until the next one. */
const PATIENT = { timeout: 60_000 };
/** The workers of 2P2D. */
const WORKERS = 4;

describe('a real Prometheus at a real cluster under load', () => {
  let cluster: TestCluster;
  let prometheus: PrometheusServer;
  let traffic: Promise<void>;
  let isOver = false;
  let pages: { api: string; worker: string };

  beforeAll(async () => {
    cluster = await TestCluster.start({ topology: '2P2D', flags: FLAGS });
    traffic = keepBusy();
    // A process is ready before the test has read its output.
    await waitUntil(() => Promise.resolve(workerAddresses(cluster.log).length === WORKERS), {
      what: 'every worker has reported its address',
    });
    const workers = workerAddresses(cluster.log);
    pages = {
      api: await page(`${cluster.baseUrl}/metrics`),
      worker: await page(`http://${workers[0]}/metrics`),
    };
    const targets = { baton: [`127.0.0.1:${cluster.port}`], 'baton-worker': workers };
    prometheus = await PrometheusServer.start({ config: CONFIG, targets });
    // Rules are evaluated group by group. The slowest one needs two scrapes and another rule.
    const server = prometheus;
    const isFilled = async (): Promise<boolean> =>
      (await unanswered(server, recordedQueries())).length === 0;
    await waitUntil(isFilled, { what: 'Prometheus has data' });
  });

  afterAll(async () => {
    isOver = true;
    await traffic;
    await prometheus.stop();
    await cluster.stop();
  });

  /** Some requests share a prefix, some are refused, and some clients disconnect early. */
  async function keepBusy(): Promise<void> {
    const url = `${cluster.baseUrl}/v1/completions`;
    for (let i = 0; !isOver; i += 1) {
      const leaving = new AbortController();
      const begun = Array.from({ length: 6 }, (_none, k) => {
        const prompt = `${'Pass the baton on. '.repeat(40)} ${i} ${k}`;
        return stream(url, { model: MODEL, prompt, max_tokens: 20, ignore_eos: true });
      });
      const left = stream(url, { model: MODEL, prompt: 'x', max_tokens: 2_000 }, leaving.signal);
      left.catch(() => undefined);
      await Promise.all(begun);
      leaving.abort();
      await post(url, { model: 'another', prompt: 'x' }).then((answer) => answer.text());
      await getAnew(`${cluster.baseUrl}/v1/models`);
    }
  }

  it('finds every target up', async () => {
    const up = async (): Promise<string[]> =>
      (await prometheus.query('up'))
        .map(({ metric, value }) => `${metric['job']} ${value[1]}`)
        .sort();
    await expect
      .poll(up, PATIENT)
      .toEqual(['baton 1', ...Array<string>(WORKERS).fill('baton-worker 1')]);
  });

  it('answers every query of our boards with data', async () => {
    const queries = ownBoardQueries();
    expect(queries.length).toBeGreaterThan(60);
    await expect.poll(() => unanswered(prometheus, queries), PATIENT).toEqual([]);
  });

  it('answers every query of vLLM’s boards with data', async () => {
    const queries = vllmBoardQueries();
    expect(queries.length).toBeGreaterThan(40);
    await expect.poll(() => unanswered(prometheus, queries), PATIENT).toEqual([]);
  });

  it('evaluates every rule, and fires no alert for a healthy cluster', async () => {
    const { groups } = await prometheus.get<{ groups: { rules: EvaluatedRule[] }[] }>('rules');
    const rules = groups.flatMap((group) => group.rules);
    expect(rules).toHaveLength(ownRules().length);
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    await expect.poll(() => unanswered(prometheus, recordedQueries()), PATIENT).toEqual([]);
    const critical = await prometheus.query('ALERTS{severity="critical"}');
    expect(critical).toEqual([]);
  });

  it('serves every metric of a panel or a rule', () => {
    const recorded = new Set(ownRules().map(({ record }) => record));
    const asked = [...ownBoardQueries(), ...vllmBoardQueries(), ...ownRules()];
    const names = [...new Set(asked.flatMap(({ expr }) => metricsIn(expr)))];
    expect(names.length).toBeGreaterThan(50);
    const shown = `${pages.api}\n${pages.worker}`;
    const isShown = (name: string): boolean =>
      recorded.has(name) || shown.includes(`\n${name}{`) || shown.includes(`\n${name} `);
    expect(names.filter((name) => !isShown(name))).toEqual([]);
  });

  it('passes promtool, except for the colon in the names of our families', () => {
    const { stderr, stdout } = spawnSync('promtool', ['check', 'metrics'], {
      input: pages.api,
      encoding: 'utf8',
    });
    const said = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
    expect(said.filter((line) => !/metric names should not contain ':'/.test(line))).toEqual([
      // prom-client names these gauges.
      ...['handles', 'requests', 'resources'].map(
        (of) => `nodejs_active_${of}_total non-counter metrics should not have "_total" suffix`,
      ),
      // A histogram of this name is vLLM's own.
      'vllm:iteration_tokens_total non-counter metrics should not have "_total" suffix',
    ]);
  });
});

/** Uses a new connection: other connections are kept alive, and a panel shows new ones. */
async function getAnew(url: string): Promise<void> {
  const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage];
  await once(answer.resume(), 'end');
}

function recordedQueries(): BoardQuery[] {
  return ownRules().flatMap(({ record: expr }) =>
    expr === undefined ? [] : [{ board: 'rules', panel: '', expr }],
  );
}

interface EvaluatedRule {
  readonly name: string;
  readonly health: string;
}

async function unanswered(
  prometheus: PrometheusServer,
  queries: readonly BoardQuery[],
): Promise<BoardQuery[]> {
  const empty: BoardQuery[] = [];
  for (const query of queries) {
    const samples = await prometheus.query(filledIn(query.expr, MODEL));
    if (!hasData(samples)) empty.push(query);
  }
  return empty;
}

function hasData(samples: readonly Sample[]): boolean {
  return samples.some(({ value }) => Number.isFinite(Number(value[1])));
}

/** The addresses of the workers' own pages, from the log. */
function workerAddresses(log: string): string[] {
  return log
    .split('\n')
    .filter((line) => line.includes('engines announced'))
    .flatMap((line) => /http:\/\/([\d.]+:\d+)/.exec(line)?.[1] ?? []);
}

async function page(url: string): Promise<string> {
  return (await fetch(url)).text();
}
