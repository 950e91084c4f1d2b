import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulate, scenarioOf } from '@baton/simulation';
import { type BatonConfig, defaultConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import type { GenerationRequest } from '@baton/openai';
import type { AdmissionPolicy, Policy } from '@baton/policies';
import { afterAll, describe, expect, it } from 'vitest';
import { CallClasses } from '../../apps/api/src/http/access/call-classes';
import type { AdmissionGate } from '../../apps/api/src/request/admit/admission-gate';
import { PolicyGate } from '../../apps/api/src/request/admit/policy-gate';
import type { Route } from '../../apps/api/src/request/route/route';
import type { Call } from '../../apps/api/src/request/take/call';
import {
  ENGINES,
  LiveRouter,
  MODEL,
  recorded,
  type Seen,
  seenIn,
  type Trace,
  traceOf,
  UNLIMITED,
} from './recorded-choices';

const FOLDER = mkdtempSync(join(tmpdir(), 'baton-own-policies-'));
/** Weighs loads, prefixes and times of prompts, and draws among the two best engines. */
const PLACEMENT = moduleOf(
  'placement.mjs',
  `export default {
    create({ stage, random }) {
      let turn = 0;
      return {
        choose({ request, engines, cachedTokens, prefillUs }) {
          turn += 1;
          const cost = (engine) => {
            const cached = cachedTokens(engine);
            const ownUs = prefillUs(engine, request.promptTokens - cached, cached);
            return engine.waitingTokens * 100 + engine.requests * 900 + ownUs +
              engine.kvTokens * (stage === 'decode' ? 3 : 1) + (request.sessionKey % 7);
          };
          const order = engines.map((engine, at) => [cost(engine), (at + turn) % 5, at]);
          order.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
          return order[random.unit() < 0.8 ? 0 : 1][2];
        },
      };
    },
  };
`,
);
/** Reads the prediction, the queues and the prefixes, and draws. */
const ADMISSION = moduleOf(
  'admission.mjs',
  `export default {
    create: ({ random }) => ({
      admit({ request, engines, waitingRequests, cachedTokens, predictedTtftUs }) {
        const cached = Math.max(...engines.map((engine) => cachedTokens(engine)));
        const limitUs = cached * 4 > request.promptTokens ? 900_000 : 500_000;
        return predictedTtftUs() < limitUs * (0.5 + random.unit()) && waitingRequests < 40;
      },
    }),
  };
`,
);
function moduleOf(name: string, text: string): `${string}.mjs` {
  const path = join(FOLDER, name) as `${string}.mjs`;
  writeFileSync(path, text);
  return path;
}

/** The engines that the module chooses, stage by stage, in the order of the requests. */
function virtualChoices(config: BatonConfig, { workload }: Trace): Seen<string>[] {
  const seen: Seen<string>[] = [];
  const scenario = scenarioOf(config, workload);
  const { prefill } = scenario.placement;
  const watched = recorded<Policy>(prefill, (own) => ({
    choose: (context) => {
      const chosen = own.choose(context);
      seen.push(seenIn(context, config, context.engines[chosen]!.engineId));
      return chosen;
    },
  }));
  const placement = { ...scenario.placement, prefill: watched, decode: watched };
  simulate({ ...scenario, placement });
  return seen;
}

/** Whether the module admits each request. */
function virtualAdmissions(config: BatonConfig, { workload }: Trace): Seen<boolean>[] {
  const seen: Seen<boolean>[] = [];
  const scenario = scenarioOf(config, workload);
  const admission = recorded<AdmissionPolicy>(scenario.admission, (own) => ({
    admit: (context) => {
      const isAdmitted = own.admit(context);
      seen.push(seenIn(context, config, isAdmitted));
      return isAdmitted;
    },
  }));
  simulate({ ...scenario, admission: { ...scenario.admission, ...admission } });
  return seen;
}

async function liveChoices(
  config: BatonConfig,
  trace: Trace,
  seen: readonly Seen<string>[],
): Promise<string[]> {
  const router = new LiveRouter(config);
  await router.routing.start();
  const stages = seen.length / trace.workload.count;
  const chosen: string[] = [];
  for (let row = 0; row < trace.workload.count; row++) {
    await router.publish(seen.slice(row * stages, (row + 1) * stages));
    chosen.push(...router.place(row, trace));
  }
  await router.stop();
  return chosen;
}

async function liveAdmissions(
  config: BatonConfig,
  trace: Trace,
  seen: readonly Seen<boolean>[],
): Promise<boolean[]> {
  const router = new LiveRouter(config);
  await router.routing.start();
  const waiting = { waiting: { prefill: 0, decode: 0, aggregated: 0 } };
  const counts = waiting as unknown as AdmissionGate;
  const classes = new CallClasses(config);
  const gate = new PolicyGate(config, router.routing, counts, classes, UNLIMITED);
  const admitted: boolean[] = [];
  for (const [row, each] of seen.entries()) {
    await router.publish([each]);
    waiting.waiting = { prefill: 0, decode: 0, aggregated: each.waitingRequests };
    admitted.push(isAdmitted(gate, trace.prompts[row]!));
    if (admitted.at(-1) === true) router.place(row, trace);
  }
  await router.stop();
  return admitted;
}

function isAdmitted(gate: PolicyGate, ids: Int32Array): boolean {
  const call = { message: { headers: {} }, body: {} } as unknown as Call;
  const request = { ...MODEL, prompts: [{ ids }] } as unknown as GenerationRequest;
  const routes = [{ flow: 'local', stage: 'aggregated' } as Route];
  try {
    gate.refuse(call, request, { routes, pass: undefined });
    return true;
  } catch (error) {
    if (error instanceof BatonError && error.code === 'admission_refused') return false;
    throw error;
  }
}

afterAll(() => rmSync(FOLDER, { recursive: true }));

describe('INV-13: live and virtual agree on the decisions of a module', () => {
  it.each([
    ['of aggregated engines', { topology: '3A' }],
    ['of both stages at arrival', { topology: '2P3D', decodeChoice: 'early' }],
  ] as const)('with the same loads: placement %s', async (_name, cluster) => {
    for (const seed of [1, 2, 3]) {
      const config = defaultConfig({ ...ENGINES, ...cluster, placement: PLACEMENT, seed });
      const trace = traceOf(config);
      const seen = virtualChoices(config, trace);
      const virtual = seen.map(({ answer }) => answer);
      expect(new Set(virtual).size).toBe(cluster.topology === '3A' ? 3 : 5);
      expect({ seed, chosen: await liveChoices(config, trace, seen) }).toEqual({
        seed,
        chosen: virtual,
      });
    }
  });

  it('with the same loads: admission', async () => {
    for (const seed of [1, 2, 3]) {
      const config = defaultConfig({
        ...ENGINES,
        topology: '2A',
        seed,
        admission: ADMISSION,
        placement: 'round-robin',
      });
      const trace = traceOf(config);
      const seen = virtualAdmissions(config, trace);
      const virtual = seen.map(({ answer }) => answer);
      expect(new Set(virtual).size).toBe(2);
      expect({ seed, admitted: await liveAdmissions(config, trace, seen) }).toEqual({
        seed,
        admitted: virtual,
      });
    }
  });
});
