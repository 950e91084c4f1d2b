import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulate, scenarioOf } from '@baton/simulation';
import { type BatonConfig, defaultConfig } from '@baton/config';
import {
  buildPolicy,
  type OwnPolicySpec,
  type Policy,
  type StagePolicySpec,
} from '@baton/policies';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { runsOf } from '../support/runs';
import {
  ENGINES,
  LiveRouter,
  recorded,
  type Seen,
  seenIn,
  type Trace,
  traceOf,
} from './recorded-choices';

const FOLDER = mkdtempSync(join(tmpdir(), 'baton-late-decode-'));
/** Weighs loads, prefixes, sessions and turns, without draws: those of a worker are its own. */
const MODULE = join(FOLDER, 'late-placement.mjs');
writeFileSync(
  MODULE,
  `export default {
    create() {
      let turn = 0;
      return {
        choose({ request, engines, cachedTokens }) {
          turn += 1;
          const cost = (engine, at) =>
            engine.kvTokens + engine.waitingTokens * 3 + engine.requests * 20 -
            cachedTokens(engine) * 2 + ((request.sessionKey + turn + at) % 3) * 30;
          const costs = engines.map(cost);
          return costs.indexOf(Math.min(...costs));
        },
      };
    },
  };
`,
);

/** A choice of a decode engine, made when the prompt of this row is held. */
interface SeenLate extends Seen<string> {
  readonly row: number;
}

/** The late choices of decode engines, in their order, and the engines that decoded, by row. */
function virtualLateChoices(
  config: BatonConfig,
  { workload }: Trace,
): { readonly seen: SeenLate[]; readonly decoded: number[] } {
  const seen: Seen<string>[] = [];
  const held: number[] = [];
  const scenario = scenarioOf(config, workload);
  const decode = recorded<Policy>(asModule(scenario.placement.decode), (own) => ({
    choose: (context) => {
      const chosen = own.choose(context);
      seen.push(seenIn(context, config, context.engines[chosen]!.engineId));
      return chosen;
    },
  }));
  simulate(
    { ...scenario, placement: { ...scenario.placement, decode } },
    { onHandoff: ({ fact }) => void (fact.kind === 'prompt-held' && held.push(fact.requestId)) },
  );
  const late = seen.map((each, at) => ({ ...each, row: held[at]! }));
  return { seen: late, decoded: [...simulate(scenario).log.decodeEngine] };
}

/** A built-in policy as a module, whose calls can be recorded. */
function asModule(spec: StagePolicySpec): OwnPolicySpec {
  if (spec === 'pull') throw new Error('under pull no policy chooses');
  if (spec.kind === 'own') return spec;
  return {
    kind: 'own',
    path: spec.kind,
    module: { create: ({ random }) => buildPolicy(spec, random) },
  };
}

async function liveLateChoices(
  config: BatonConfig,
  trace: Trace,
  seen: readonly SeenLate[],
): Promise<(string | undefined)[]> {
  const router = new LiveRouter(config, 'prefill');
  await router.routing.start();
  const chosen: (string | undefined)[] = [];
  for (const each of seen) {
    await router.publish([each]);
    chosen.push(router.handOver(each.row, trace));
  }
  await router.stop();
  return chosen;
}

afterAll(() => rmSync(FOLDER, { recursive: true }));

describe('INV-13: live and virtual agree on decode engines that are chosen late', () => {
  it.each([
    ['least-requests', 'least-requests'],
    ['least-tokens', 'least-tokens'],
    ['prefix-aware', 'prefix-aware'],
    ['session-sticky', 'session-sticky'],
    ['a module', MODULE as `${string}.mjs`],
  ] as const)('with the same loads: %s', async (_name, decodePlacement) => {
    const cluster = { topology: '1P3D', placement: 'least-requests', decodePlacement } as const;
    const of = (seed: number, decodeChoice: 'early' | 'late') =>
      defaultConfig({ ...ENGINES, ...cluster, decodeChoice, seed });
    let differsFromEarly = false;
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const config = of(seed, 'late');
        const trace = traceOf(config, 30);
        const { seen, decoded } = virtualLateChoices(config, trace);
        // The prefill engine is the first of the cluster.
        const idOf = new Map(seen[0]!.loads.map(({ engineId }, at) => [1 + at, engineId]));
        expect(seen.map(({ row }) => row).sort((a, b) => a - b)).toEqual([...decoded.keys()]);
        expect(seen.map(({ answer }) => answer)).toEqual(
          seen.map(({ row }) => idOf.get(decoded[row]!)),
        );
        const chosen = await liveLateChoices(config, trace, seen);
        expect(chosen).toEqual(seen.map(({ answer }) => answer));
        const early = simulate(scenarioOf(of(seed, 'early'), trace.workload));
        differsFromEarly ||= String(early.log.decodeEngine) !== String(decoded);
      }),
      { numRuns: runsOf(200) },
    );
    // Otherwise the moment of the choice would have had no effect.
    expect(differsFromEarly).toBe(true);
  });
});
