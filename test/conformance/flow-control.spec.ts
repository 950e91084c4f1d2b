import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveClock } from '@baton/clock';
import { simulate, scenarioOf } from '@baton/simulation';
import { type BatonConfig, defaultConfig } from '@baton/config';
import { FLOW_POLICY_KINDS, type PolicyWatch } from '@baton/policies';
import type { GenerationRequest } from '@baton/openai';
import { RandomStream } from '@baton/kernel';
import type { Transport } from '@baton/transport';
import { type Workload, WorkloadBuilder } from '@baton/workload';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';
import type { ClusterView } from '../../apps/api/src/cluster/cluster-view';
import { CallClasses } from '../../apps/api/src/http/access/call-classes';
import { FlowMetrics } from '../../apps/api/src/observers/metrics/flow-metrics';
import { FlowGate, type FlowPass } from '../../apps/api/src/request/admit/flow-gate';
import type { Call } from '../../apps/api/src/request/take/call';
import { ManualWallClock } from '../../libs/clock/test/manual-wall-clock';

/** Calls of modules have no limit of wall time here: a busy machine must change no decision. */
const UNLIMITED: PolicyWatch = {
  onFault: ({ message }) => {
    throw new Error(message);
  },
};

const FOLDER = mkdtempSync(join(tmpdir(), 'baton-flow-policy-'));
/** Weighs age, length and service so far of a flow, and draws. */
const MODULE = join(FOLDER, 'flow.mjs') as `${string}.mjs`;
writeFileSync(
  MODULE,
  `export default {
    create({ random }) {
      const had = new Map();
      const nameOf = ({ sloClass, tenant }) => sloClass.name + ' ' + tenant;
      return {
        pick({ flows, nowUs, underWay }) {
          const scores = flows.map((flow) => {
            const served = had.get(nameOf(flow)) ?? 0;
            const ageMs = (nowUs - flow.oldest.arrivalUs) / 1000;
            const { promptTokens } = flow.oldest;
            return served + promptTokens - ageMs + (underWay % 2) * 50 * flow.waitingRequests;
          });
          if (random.unit() < 0.2) return random.integer(flows.length);
          return scores.indexOf(Math.min(...scores));
        },
        served(flow, { promptTokens, outputTokens }) {
          const name = nameOf(flow);
          had.set(name, (had.get(name) ?? 0) + promptTokens + 3 * outputTokens);
        },
      };
    },
  };
`,
);

const NAMES = ['interactive', 'standard', 'batch'];
const CONFIG: Partial<BatonConfig> = {
  topology: '1A',
  stepTime: 'constant',
  timeToFirstToken: 20,
  interTokenLatency: 10,
  sloClasses: {
    interactive: { ttft: 200, weight: 6, priority: 1 },
    standard: { ttft: 2_000, weight: 3, priority: 2 },
    batch: { weight: 1, priority: 3 },
  },
  flowControlConcurrency: 3,
  flowControlQueue: 12,
  flowControlTotalQueue: 20,
  flowControlTimeout: 1.5,
};

function workload(seed: number): Workload {
  const random = RandomStream.root(seed);
  const builder = new WorkloadBuilder({ contentBlockTokens: 16 });
  for (let i = 0; i < 300; i++) {
    builder.add({
      arrivalUs: i * 20_000 + random.integer(20_000),
      promptTokens: 1 + random.integer(200),
      outputTokens: 1 + random.integer(20),
      sloClass: NAMES[random.integer(3)],
      tenant: `t${random.integer(4)}`,
    });
  }
  return builder.build();
}

/** The gate of the live API. Requests behind it end at the instants of the virtual run. */
async function live(config: BatonConfig, { arrivals, ends }: Facts): Promise<Map<number, number>> {
  const cluster = {
    readyEngines: (stage: string) => (stage === 'aggregated' ? 1 : 0),
    onEngines: () => undefined,
  } as unknown as ClusterView;
  const classes = new CallClasses(config);
  const wall = new ManualWallClock(0);
  const clock = new LiveClock(wall);
  const broker = { isConnected: true, onConnection: () => undefined } as unknown as Transport;
  const metrics = new FlowMetrics(new Registry());
  const gate = new FlowGate(config, classes, cluster, metrics, UNLIMITED, clock, broker);
  const passes = new Map<number, FlowPass>();
  const passedUs = new Map<number, number>();
  const events = [
    ...arrivals.map((each) => ({ ...each, kind: 1 })),
    ...ends.map((each) => ({ ...each, kind: 0 })),
  ].sort((a, b) => a.atUs - b.atUs || a.kind - b.kind);
  for (const [i, event] of events.entries()) {
    wall.advanceAtOnce(event.atUs - wall.nowUs());
    if (event.kind === 1) {
      const { row } = event;
      void gate.pass(event.call!, event.request!).then(
        (pass) => void (passes.set(row, pass), passedUs.set(row, wall.nowUs())),
        () => undefined,
      );
    } else passes.get(event.row)?.settle(event.used!);
    // Requests pass before the next event, but after all ends of this instant.
    const next = events[i + 1];
    if (event.kind === 0 && next?.kind === 0 && next.atUs === event.atUs) continue;
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }
  return passedUs;
}

interface Fact {
  readonly row: number;
  readonly atUs: number;
  readonly call?: Call;
  readonly request?: GenerationRequest;
  readonly used?: number;
}

interface Facts {
  readonly arrivals: readonly Fact[];
  readonly ends: readonly Fact[];
}

afterAll(() => rmSync(FOLDER, { recursive: true }));

describe('flow control of the live API', () => {
  it.each([
    ...FLOW_POLICY_KINDS.map((kind) => [kind, kind] as const),
    ['a module', MODULE],
  ] as const)(
    '%s: lets the same requests pass at the same instants as on the virtual clock',
    async (_name, flowControl) => {
      for (const seed of [1, 2, 3]) {
        const config = defaultConfig({ ...CONFIG, flowControl, seed });
        const trace = workload(seed);
        const { log } = simulate(scenarioOf(config, trace));
        const rows = Array.from({ length: log.count }, (_, row) => row);
        const arrivals = rows.map((row) => arrivalOf(trace, row));
        const ends = rows
          .filter((row) => log.finishUs.at(row) >= 0)
          .map((row) => {
            const used = log.promptTokens[row]! + log.outputTokens[row]!;
            return { row, atUs: log.finishUs.at(row), used };
          });
        const passedUs = await live(config, { arrivals, ends });
        const virtual = rows.filter((row) => log.passedUs!.at(row) >= 0);
        expect(virtual.length).toBeLessThan(log.count);
        const pairs = (of: (row: number) => number | undefined) =>
          virtual.map((row) => [row, of(row)]);
        expect({ seed, passed: pairs((row) => passedUs.get(row)) }).toEqual({
          seed,
          passed: pairs((row) => log.passedUs!.at(row)),
        });
        expect(passedUs.size).toBe(virtual.length);
      }
    },
  );
});

function arrivalOf(trace: Workload, row: number): Fact {
  const sloClass = trace.sloClass!.names[trace.sloClass!.places[row]! - 1]!;
  const tenant = trace.tenant!.names[trace.tenant!.places[row]! - 1]!;
  const call = {
    message: { headers: { 'x-slo-class': sloClass } },
    tenant,
    body: {},
    response: new EventEmitter() as unknown as ServerResponse,
  } as unknown as Call;
  const ids = new Int32Array(trace.promptTokens[row]!);
  const request = { prompts: [{ ids }] } as unknown as GenerationRequest;
  return { row, atUs: trace.arrivalUs[row]!, call, request };
}
