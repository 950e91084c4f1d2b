import { secondsToUs } from '@baton/kernel';
import { parseEngines } from '../src/placement/topology/topology';
import type { ScaleContext } from '../src/autoscaling/policy';
import { type ClusterSample, countsOf, type EngineSample, ROLES } from '../src/autoscaling/sample';

export interface Shown {
  readonly atSeconds?: number;
  /** Ready engines, `2P3D`. */
  readonly engines?: string;
  readonly starting?: string;
  readonly draining?: string;
  /** Running sequences of every ready engine. */
  readonly running?: number;
  readonly waiting?: number;
  readonly kv?: number;
  readonly queued?: Partial<ClusterSample['queued']>;
  readonly totals?: Partial<ClusterSample['totals']>;
}

const NOTHING = { sumSeconds: 0, count: 0 };

export function sampleOf(shown: Shown): ClusterSample {
  const { atSeconds = 0, engines = '1P1D', starting, draining } = shown;
  const queued = { prefill: 0, decode: 0, aggregated: 0, ...shown.queued };
  const totals = { arrived: 0, finished: 0, promptTokens: 0, outputTokens: 0, ...shown.totals };
  return {
    atUs: secondsToUs(atSeconds),
    engines: [
      ...enginesIn(engines, 'ready', shown),
      ...enginesIn(starting, 'starting', {}),
      ...enginesIn(draining, 'draining', {}),
    ],
    queued,
    totals: { ttft: NOTHING, itl: NOTHING, e2el: NOTHING, ...totals },
  };
}

function enginesIn(
  text: string | undefined,
  state: EngineSample['state'],
  { running = 0, waiting = 0, kv = 0 }: Shown,
): EngineSample[] {
  if (text === undefined) return [];
  const counts = parseEngines(text);
  return ROLES.flatMap((role) =>
    Array.from({ length: counts[role] }, (_none, i) => {
      const load = { running, waiting, kvUsage: kv };
      return { engineId: `${role}-${state}-${i}`, role, state, ...load };
    }),
  );
}

export function contextOf(
  shown: Shown,
  { before, max = '8P16D8A' }: { before?: Shown; max?: string } = {},
): ScaleContext {
  const sample = sampleOf(shown);
  const most = parseEngines(max);
  const least = { prefill: 1, decode: 1, aggregated: 1 };
  return {
    nowUs: sample.atUs,
    sample,
    previous: before && sampleOf(before),
    counts: countsOf(sample),
    bounds: { min: least, max: most },
  };
}
