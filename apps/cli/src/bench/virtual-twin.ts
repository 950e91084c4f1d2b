import { summarise, type Summary } from '@baton/analysis';
import { simulate, mostGpus } from '@baton/simulation';
import { prepareReplay } from '@baton/replay';
import { consoleTable, formatMs, formatNumber } from '@baton/report';
import { withProgress } from '../progress';
import { readReplayFlags } from '../replay/replay-flags';
import type { BenchFlags } from './bench-flags';
import { type ResultDocument, voidReason } from './result-document';

/**
 * The same requests on the same cluster on the virtual clock. It has no front end of vLLM, because
 * a cluster of Baton has none.
 */
export async function virtualTwin(flags: BenchFlags, topology: string): Promise<Summary> {
  const { workload, seed, maxConcurrency, slo } = flags;
  const bound = maxConcurrency === undefined ? {} : { concurrency: String(maxConcurrency) };
  const given = { ...workload, topology, seed: String(seed), ...bound, frontend: 'none' };
  const prepared = await withProgress('reading', (onProgress) =>
    prepareReplay(readReplayFlags(given), process.env, onProgress),
  );
  const beganMs = performance.now();
  const run = await withProgress('virtual clock', (onProgress) =>
    simulate(prepared.scenario, { onProgress }),
  );
  return summarise(run, {
    ...(slo === undefined ? {} : { slo }),
    gpus: mostGpus(prepared.scenario),
    seed,
    wallSeconds: (performance.now() - beganMs) / 1_000,
  });
}

/** The measured figures next to the simulated ones, in a few lines. Void figures are marked. */
export function besideTwin(measured: ResultDocument, twin: Summary): string {
  const ms = (name: string): string => formatMs(Number(measured[`median_${name}_ms`]));
  const rows = [
    ['median TTFT', ms('ttft'), formatMs(twin.ttft_ms.p50)],
    ['median TPOT', ms('tpot'), formatMs(twin.tpot_ms.p50)],
    ['median E2EL', ms('e2el'), formatMs(twin.e2el_ms.p50)],
    [
      'output tokens/s',
      formatNumber(Number(measured['output_throughput'])),
      formatNumber(twin.output_tokens_per_second),
    ],
  ];
  const columns = [
    { name: '' },
    {
      name: voidReason(measured) !== null ? 'measured (VOID)' : 'measured',
      align: 'right' as const,
    },
    { name: 'virtual clock', align: 'right' as const },
  ];
  return consoleTable(columns, rows);
}
