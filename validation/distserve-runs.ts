import { mean, usToMs } from '@baton/kernel';
import { simulate } from '@baton/simulation';
import type { Workload } from '@baton/workload';
import { aggregatedThen, type Design, latenciesOf, splitThen } from './distserve-designs';
import {
  type DistserveCase,
  distserveCases,
  loadOf,
  measuredRequests,
  measuredWorkload,
} from './distserve-load';
import { rowsOf } from './files';
import type { Finding } from './finding';

const LOG = 'vLLM of 2024, OPT-13B on one A100: 100 requests of ShareGPT at 1 per second';
const MEANS = 'DistServe and vLLM of 2024 by rate, OPT-13B on A100, ShareGPT: means of a run';

/** The run of vLLM that DistServe's authors published request by request, and its replays. */
export function distserveLog(): Finding[] {
  const one = measuredCase();
  const measured = measuredRequests();
  const sourceOf = (column: string): number => mean(measured.map((row) => Number(row[column])));
  const theirs = { ttft: sourceOf('ttft_ms'), tpot: sourceOf('tpot_ms') };
  return (['composed', 'vllm'] as const).flatMap((steps) => {
    const what = steps === 'composed' ? "today's steps" : "the authors' fit";
    const design = aggregatedThen(one, steps);
    return meansOf(design, { load: measuredWorkload(), theirs, part: LOG, what });
  });
}

/** The means that the authors published of runs at other rates. Lengths and arrivals are drawn. */
export function distserveMeans(): Finding[] {
  const one = measuredCase();
  return rowsOf('published', 'distserve_osdi24_means.csv').flatMap((row) => {
    const isSplit = row['engine'] === 'distserve';
    const [ratePerSecond, requests] = [Number(row['rate']), Number(row['requests'])];
    const load = loadOf(one, { ratePerSecond, requests });
    const theirs = { ttft: Number(row['ttft_ms']), tpot: Number(row['tpot_ms']) };
    const name = `${isSplit ? 'DistServe, 3 GPUs' : 'vLLM, 1 GPU'}, ${row['rate']} per second`;
    return ['composed' as const, isSplit ? ('distserve' as const) : ('vllm' as const)].flatMap(
      (steps) => {
        const what = `${name}, ${steps === 'composed' ? "today's steps" : "the authors' fit"}`;
        const design = isSplit ? splitThen(one, steps) : aggregatedThen(one, steps);
        return meansOf(design, { load, theirs, part: MEANS, what });
      },
    );
  });
}

/** The case whose runs are published: a split of three GPUs against one engine on one. */
function measuredCase(): DistserveCase {
  return distserveCases().find(
    ({ workload, model }) => workload === 'ShareGPT' && model === 'opt-13b',
  )!;
}

function meansOf(
  design: Design,
  {
    load,
    theirs,
    part,
    what,
  }: {
    readonly load: Workload;
    readonly theirs: { readonly ttft: number; readonly tpot: number };
    readonly part: string;
    readonly what: string;
  },
): Finding[] {
  const latencies = latenciesOf(simulate(design.scenario(load)).log, design);
  const ttft = usToMs(mean(latencies.map(({ ttftUs }) => ttftUs)));
  const tpot = usToMs(mean(latencies.map(({ tpotUs }) => tpotUs)));
  return [
    { part, what: `mean TTFT, ${what}`, theirs: theirs.ttft, ours: ttft, unit: 'ms' },
    { part, what: `mean TPOT, ${what}`, theirs: theirs.tpot, ours: tpot, unit: 'ms' },
  ];
}
