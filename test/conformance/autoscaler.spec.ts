import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Autoscaler,
  buildAutoscaler,
  type ClusterSample,
  EngineCapacity,
  KEEP,
  OwnScaler,
  type OwnScalePolicy,
  parseAutoscaler,
  type ScalePolicy,
  STRICT,
} from '@baton/policies';
import { simulate } from '@baton/simulation';
import { defaultConfig, isModulePath, ownPolicy } from '@baton/config';
import { RandomStream, secondsToUs } from '@baton/kernel';
import { LiveAutoscaler } from '@baton/supervisor';
import { createLogger } from '@baton/telemetry';
import { attachInProcess, InProcessHub } from '@baton/transport';
import { LiveMembership, WorkerHosts } from '@baton/engine-host';
import { afterAll, describe, expect, it } from 'vitest';
import { ManualWallClock } from '../../libs/clock/test/manual-wall-clock';
import { poolFor, scenarioWith, workloadOf } from '../../libs/simulation/test/test-scenario';
import { STAGE_WAYS } from '../../libs/engine-host/test/stage-ways';

const INTERVAL_US = secondsToUs(1);
const BOUNDS = {
  min: { prefill: 1, decode: 1, aggregated: 0 },
  max: { prefill: 4, decode: 4, aggregated: 0 },
};
/** Steps of a tenth of a second: a minute of traffic has few of them. */
const SLOW = {
  description: 'slow',
  stepUs: (b: { prefillTokens: number; decodeContext: number }) =>
    100_000 + 1_000 * b.prefillTokens + 10 * b.decodeContext,
};

const FACTS = {
  stepTime: SLOW,
  maxNumBatchedTokens: 2_048,
  maxNumSeqs: 256,
  kvTokens: 16_000,
};

const FOLDER = mkdtempSync(join(tmpdir(), 'baton-scaler-'));
/** Decides by metrics, by its state and by its random stream. */
const MODULE = join(FOLDER, 'scaler.mjs');
writeFileSync(
  MODULE,
  `export default {
    create({ random }) {
      let calm = 0;
      return {
        decide({ counts, value }) {
          const waiting = value('waiting', 'prefill') ?? 0;
          calm = waiting > 2 ? 0 : calm + 1;
          const step = calm > 3 + random.integer(3) ? -1 : 0;
          const more = waiting > 2 ? 1 + random.integer(2) : step;
          // One below the bounds: how long an engine drains, which has its place still, differs.
          return { counts: { ...counts, prefill: Math.min(3, counts.prefill + more) } };
        },
      };
    },
  };
`,
);

/** An autoscaler, and the data-parallel ranks of each engine. */
interface Case {
  readonly written: string;
  readonly ranks: number;
}

function policyOf({ written, ranks }: Case): ScalePolicy {
  const capacity = new EngineCapacity({ ...FACTS, ranks });
  const [random, capacities] = [RandomStream.root(1), { prefill: capacity, decode: capacity }];
  if (!isModulePath(written)) {
    return buildAutoscaler(parseAutoscaler(written), { capacities, random });
  }
  const own = ownPolicy<OwnScalePolicy>(written, 'decide', ['cluster']);
  return new OwnScaler(own, { random, capacities, fallback: KEEP, watch: STRICT });
}

function autoscaler(given: Case): Autoscaler {
  return new Autoscaler({ policy: policyOf(given), bounds: BOUNDS, metricsAgeUs: 0 });
}

/**
 * A burst of 10 s in a minute of single requests for each rank; scrapes and changes of its virtual
 * run.
 */
function virtual(given: Case): { samples: ClusterSample[]; changes: string[] } {
  const burst = Array.from({ length: 160 }, (_none, i) => 5_000_000 + i * 60_000);
  const calm = Array.from({ length: 60 }, (_none, i) => i * 1_000_000 + 333_333);
  const arrivals = [...burst, ...calm].sort((a, b) => a - b);
  const perRank = { prompt: 40, output: 5 };
  const workload = workloadOf(
    arrivals.flatMap((atUs) => Array.from({ length: given.ranks }, () => ({ atUs, ...perRank }))),
  );
  const samples: ClusterSample[] = [];
  const inner = autoscaler(given);
  const decide = inner.decide.bind(inner);
  inner.decide = (sample) => {
    samples.push(onThePage(sample));
    return decide(samples.at(-1)!);
  };
  const { scaling } = simulate({
    ...scenarioWith('1P1D', workload),
    pools: (['prefill', 'decode'] as const).map((role) => {
      const dataParallel = { size: given.ranks, isLockstep: false };
      return { ...poolFor(role, given.ranks, { stepTime: SLOW }), dataParallel };
    }),
    scaling: { create: () => inner, intervalUs: INTERVAL_US, most: BOUNDS.max },
  });
  const letter = { prefill: 'P', decode: 'D', aggregated: 'A' };
  const changes = scaling!.events.map(({ atUs, kind, count, role }) => {
    return `${atUs / INTERVAL_US} ${kind === 'join' ? '+' : '-'}${count}${letter[role]}`;
  });
  return { samples, changes };
}

/** Shows idle engines, as the live ones are, with the requests that wait in them in front. */
function onThePage(sample: ClusterSample): ClusterSample {
  const queued = { ...sample.queued };
  for (const { role, waiting } of sample.engines) queued[role] += waiting;
  const engines = sample.engines.map((engine) => ({
    ...engine,
    running: 0,
    waiting: 0,
    kvUsage: 0,
  }));
  return { ...sample, queued, engines };
}

/** The changes of the live driver with real engines whose scrapes show the same. */
async function live(given: Case, samples: readonly ClusterSample[]): Promise<string[]> {
  const wall = new ManualWallClock();
  const hub = new InProcessHub();
  const [front, back] = [attachInProcess(hub), attachInProcess(hub)];
  const config = defaultConfig({ topology: '1P1D', dataParallelSize: given.ranks });
  const log = createLogger({ name: 'test', level: 'silent' });
  const engines = { prefill: 1, decode: 1 };
  const hosts = await WorkerHosts.start({
    stages: STAGE_WAYS,
    config,
    engines,
    transport: back,
    log,
    wall,
  });
  const starter = { start: hosts.join.bind(hosts) };
  const membership = new LiveMembership({ config, transport: front, starter, wall });
  let scrapes = 0;
  const said: string[] = [];
  const driver = new LiveAutoscaler({
    config,
    autoscaler: autoscaler(given),
    intervalUs: INTERVAL_US,
    membership,
    wall,
    scrape: () => Promise.resolve(samples[scrapes++]!),
    say: (sentence) => said.push(sentence.replace('autoscaler:', String(scrapes))),
  });
  void driver.run();
  while (scrapes < samples.length) await wall.advance(INTERVAL_US / 4);
  await wall.advance(INTERVAL_US / 2);
  driver.stop();
  await hosts.stop(0);
  return said;
}

afterAll(() => rmSync(FOLDER, { recursive: true }));

describe('INV-13: live and virtual agree on the changes of an autoscaler', () => {
  it.each([
    ['hpa by TTFT', 'hpa:ttft=1s:down-window=3s', 1],
    ['keda', 'keda:4:down-window=5s', 1],
    ['hpa by two metrics', 'hpa:rps=4+waiting=6:down-window=2s', 1],
    ['sla-load', 'sla-load:ttft=0.5s:itl=0.2', 1],
    ['wva-tokens', 'wva-tokens:up=0.05:down=0.02', 1],
    ['a module', MODULE, 1],
    ['engines of two ranks', 'keda:4:down-window=5s', 2],
    ['engines of two ranks, by their capacity', 'sla-load:ttft=0.5s:itl=0.2', 2],
  ])('with the same metrics: %s', async (_name, written, ranks) => {
    const { samples, changes } = virtual({ written, ranks });
    expect(changes.some((change) => change.includes('+'))).toBe(true);
    expect(changes.some((change) => change.includes('-'))).toBe(true);
    expect(await live({ written, ranks }, samples)).toEqual(changes);
  });
});
