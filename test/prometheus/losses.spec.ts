import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { PrometheusServer } from '../support/prometheus-server';
import { waitUntil } from '../support/wait';

const CONFIG = fileURLToPath(new URL('../../deploy/prometheus/prometheus.yml', import.meta.url));

describe('Prometheus beside a cluster that loses a worker', () => {
  let cluster: TestCluster;
  let prometheus: PrometheusServer;

  afterEach(async () => {
    await prometheus.stop();
    await cluster.stop();
  });

  it('reports the lost engine and the restarted process, and no lost requests', async () => {
    cluster = await TestCluster.start({ topology: '1P2D', flags: PLAIN_STEPS });
    const targets = { baton: [`127.0.0.1:${cluster.port}`] };
    prometheus = await PrometheusServer.start({ config: CONFIG, targets });
    // An increase is visible only after a first scrape.
    await waitUntil(
      async () => (await valueOf('sum(max by (stage) (baton:engines_lost_total))')) === 0,
      {
        what: 'Prometheus shows no loss',
      },
    );
    const answers = Array.from({ length: 8 }, () =>
      stream(`${cluster.baseUrl}/v1/completions`, {
        prompt: 'x',
        max_tokens: 400,
        ignore_eos: true,
      }),
    );
    // A test that is stopped for longer than the answers last sees no token flow.
    let isOver = false;
    void Promise.allSettled(answers).then(() => (isOver = true));
    await waitUntil(async () => isOver || (await cluster.sumOf('running')) > 0, {
      what: 'tokens flow',
    });
    const [victim] = await cluster.pidsOf('decode');
    process.kill(victim ?? 0, 'SIGKILL');

    await waitUntil(async () => (await firing('BatonEngineLost')).includes('decode'), {
      what: 'the alert fires',
    });
    const ends = await Promise.all(answers);
    expect(ends.map(({ finishReason }) => finishReason)).toEqual(ends.map(() => 'length'));
    await cluster.untilAtRest();
    await waitUntil(async () => (await valueOf('max(baton:worker_restarts_total)')) === 1, {
      what: 'the restart is counted',
    });
    const ready = 'max(sum by (instance) (baton:engines{state="ready"}))';
    await waitUntil(async () => (await valueOf(ready)) === 3, { what: 'it is seen to be ready' });
    for (const lost of ['baton:sequences_unaccounted', 'max(baton:kv_lost_blocks)']) {
      // A process that is stopped for a second misses a scrape: its series end until the next one.
      await expect.poll(() => valueOf(lost), { timeout: 60_000 }).toBe(0);
    }
    expect(await firing('BatonSequencesLost')).toEqual([]);
  });

  async function valueOf(expression: string): Promise<number> {
    const [sample] = await prometheus.query(expression);
    return Number(sample?.value[1] ?? NaN);
  }

  /** Stages that the alert names. */
  async function firing(alert: string): Promise<(string | undefined)[]> {
    const query = `ALERTS{alertname="${alert}", alertstate="firing"}`;
    return (await prometheus.query(query)).map(({ metric }) => metric['stage']);
  }
});
