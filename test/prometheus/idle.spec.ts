import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { filledIn, ownBoardQueries } from '../support/board-queries';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { PrometheusServer } from '../support/prometheus-server';
import { waitUntil } from '../support/wait';

const CONFIG = fileURLToPath(new URL('../../deploy/prometheus/prometheus.yml', import.meta.url));
const MODEL = 'llama-3.1-8b';
/** Panels of rates and of shares of rates. */
const ZEROS = ['Server errors', 'Completed requests', 'Generated tokens', 'Prefix cache hits'];

interface Answer {
  readonly panel: string;
  readonly values: readonly string[];
}

describe('Prometheus beside an idle cluster', () => {
  let cluster: TestCluster;
  let prometheus: PrometheusServer;

  afterEach(async () => {
    await prometheus.stop();
    await cluster.stop();
  });

  it('answers no query of a board with NaN, and those of rates with 0', async () => {
    cluster = await TestCluster.start({ topology: '1P1D', flags: PLAIN_STEPS });
    const targets = { baton: [`127.0.0.1:${cluster.port}`] };
    prometheus = await PrometheusServer.start({ config: CONFIG, targets });
    const ask = (): Promise<Answer[]> =>
      Promise.all(
        ownBoardQueries().map(async ({ panel, expr }) => {
          const samples = await prometheus.query(filledIn(expr, MODEL));
          return { panel, values: samples.map(({ value }) => value[1]) };
        }),
      );
    let answers: Answer[] = [];
    // A process that is stopped for a second misses a scrape: its series end until the next one.
    const haveRates = async (): Promise<boolean> => {
      answers = await ask();
      return answers.every(({ panel, values }) => !ZEROS.includes(panel) || values.length > 0);
    };
    await waitUntil(haveRates, { what: 'Prometheus has scraped twice' });
    expect(answers.filter(({ values }) => values.includes('NaN'))).toEqual([]);
    const zeros = answers.filter(({ panel }) => ZEROS.includes(panel));
    expect([...new Set(zeros.map(({ panel }) => panel))].sort()).toEqual([...ZEROS].sort());
    for (const { panel, values } of zeros) expect(new Set(values), panel).toEqual(new Set(['0']));
  });
});
