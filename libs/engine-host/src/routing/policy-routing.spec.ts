import { type BatonConfig, defaultConfig, placerSpec } from '@baton/config';
import type { EngineJob, EngineLoad } from '@baton/contract';
import { RandomStream } from '@baton/kernel';
import { Placer } from '@baton/policies';
import type { Logger } from '@baton/telemetry';
import { attachInProcess, channels, InProcessHub, type Transport } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualWallClock, settle } from '../../../clock/test/manual-wall-clock';
import { idleEngines, placementContext } from '../../../policies/test/test-context';
import { SharedQueues } from './job-routing';
import { buildRouting, needsLoads, PolicyRouting } from './policy-routing';

const SECOND = 1_000_000;

function job(part: Partial<EngineJob> = {}): EngineJob {
  return {
    requestId: 'r-0',
    submission: 1,
    apiId: 'api',
    streamId: 1,
    causeUs: 0,
    arrivalUs: 0,
    promptTokens: 100,
    blockHashes: [11, 12, 13, 14, 15, 16, 17, 18],
    outputTokens: 40,
    endReason: 'length',
    maxTokens: 40,
    priority: 0,
    flow: 'route',
    ...part,
  };
}

describe('PolicyRouting', () => {
  const wall = new ManualWallClock();
  let hub: InProcessHub;
  let transport: Transport;
  let routing: PolicyRouting;
  const warned = vi.fn();

  async function start(config: Partial<BatonConfig>): Promise<void> {
    hub = new InProcessHub();
    transport = attachInProcess(hub);
    routing = new PolicyRouting({
      config: defaultConfig(config),
      transport,
      wall,
      log: { warn: warned } as unknown as Logger,
      routerId: 'me',
      role: 'api',
      policyWatch: { onFault: () => undefined },
    });
    await routing.start();
  }

  afterEach(async () => {
    await routing.stop();
    await transport.close();
  });

  /** Publishes loads of engines; a name begins with the stage's letter. */
  async function publish(...loads: (Partial<EngineLoad> & { engineId: string })[]): Promise<void> {
    for (const load of loads) {
      const whole: EngineLoad = {
        stage: load.engineId.startsWith('p') ? 'prefill' : 'decode',
        index: Number(load.engineId.slice(1)),
        state: 'ready',
        requests: 0,
        waitingRequests: 0,
        waitingTokens: 0,
        usedBlocks: 0,
        numBlocks: 1_000,
        taken: {},
        ...load,
      };
      transport.bus.publish(channels.loads, Buffer.from(JSON.stringify(whole)));
    }
    await settle();
  }

  it('reports a load that it cannot read, and goes on', async () => {
    await start({ placement: 'least-requests' });
    transport.bus.publish(channels.loads, Buffer.from('{'));
    await publish({ engineId: 'p0' });
    expect(warned).toHaveBeenCalledWith({ bytes: 1 }, 'unreadable message');
    expect(routing.atArrival(job()).queue).toContain('p0');
  });

  const four = () =>
    publish({ engineId: 'p0' }, { engineId: 'p1' }, { engineId: 'd2' }, { engineId: 'd3' });

  describe('with early decode choice', () => {
    beforeEach(async () => {
      await start({ placement: 'least-requests', decodeChoice: 'early' });
    });

    it('leaves jobs in the shared queues while there is no engine', () => {
      expect(routing.atArrival(job())).toEqual({
        queue: 'prefill',
        job: job({ placed: { stage: 'prefill' } }),
      });
      expect(routing.atHandoff(job()).queue).toBe('decode');
    });

    it('chooses both engines at arrival, and counts sent jobs', async () => {
      await four();
      const first = routing.atArrival(job());
      expect(first).toEqual({
        queue: 'engine:p0',
        job: job({
          placed: { stage: 'prefill', own: { engineId: 'p0', routerId: 'me', ordinal: 1 } },
          decodeEngineId: 'd2',
        }),
      });
      expect(routing.atArrival(job()).queue).toBe('engine:p1');
    });

    it('keeps the chosen decode engine as long as it is present', async () => {
      await four();
      const early = job({ decodeEngineId: 'd3' });
      expect(routing.atHandoff(early).queue).toBe('engine:d3');
      await publish({ engineId: 'd3', state: 'draining' });
      expect(routing.atHandoff(early)).toMatchObject({
        queue: 'engine:d2',
        job: { placed: { stage: 'decode' } },
      });
      await wall.advance(2 * SECOND);
      expect(routing.atHandoff(early).queue).toBe('decode');
    });

    it('counts a request on its way to decode until it arrives', async () => {
      await four();
      let hasArrived = false;
      routing.expect('d2', 100, () => hasArrived);
      expect(routing.atArrival(job()).job.decodeEngineId).toBe('d3');
      hasArrived = true;
      await publish({ engineId: 'd2' });
      expect(routing.atArrival(job()).job.decodeEngineId).toBe('d2');
    });

    it('places jobs of external routers by the policy of their stage', async () => {
      await four();
      expect(routing.atArrival(job({ flow: 'hold' })).queue).toBe('engine:p0');
      expect(routing.atArrival(job({ flow: 'attach' })).queue).toBe('engine:d2');
      const own = job({ flow: 'hold', engineId: 'd3' });
      expect(routing.atArrival(own)).toEqual({ queue: 'engine:d3', job: own });
    });

    it('places jobs again within the stage, if it has engines', async () => {
      await four();
      const placed = routing.atArrival(job()).job;
      await publish({ engineId: 'p0', state: 'draining' });
      expect(routing.unavailableEngines().map(({ engineId }) => engineId)).toEqual(['p0']);
      expect(routing.again('prefill', placed).queue).toBe('engine:p1');
      await wall.advance(1.1 * SECOND);
      expect(routing.unavailableEngines()).toHaveLength(4);
      expect(routing.again('prefill', placed).queue).toBe('prefill');
    });

    it('does not count its own pause, or the broker’s, as silence of the engines', async () => {
      await four();
      wall.skip(5 * SECOND);
      // At a timer that rings before the routing's own one, and then.
      expect(routing.unavailableEngines()).toEqual([]);
      await wall.advance(1);
      expect(routing.unavailableEngines()).toEqual([]);
      await four();
      await wall.advance(0.3 * SECOND);
      wall.skip(0.75 * SECOND);
      expect(routing.unavailableEngines()).toEqual([]);
      await wall.advance(2 * SECOND);
      expect(routing.unavailableEngines()).toHaveLength(4);
      hub.goAway();
      hub.comeBack();
      expect(routing.unavailableEngines()).toEqual([]);
    });
  });

  it('sends a prompt to the engine that got its prefix', async () => {
    await start({ placement: 'prefix-aware', decodePlacement: 'pull' });
    await four();
    const hashes = (first: number) => Array.from({ length: 62 }, (_, i) => first * 1_000 + i);
    const long = (first: number) => job({ promptTokens: 992, blockHashes: hashes(first) });
    const queues = [1, 2, 1, 1, 2].map((first) => {
      const { queue } = routing.atArrival(long(first));
      return queue;
    });
    const [one, two] = queues;
    expect(one).not.toBe(two);
    expect(queues).toEqual([one, two, one, one, two]);
    expect(routing.atHandoff(long(1)).queue).toBe('decode');
  });

  it('INV-12: does not read the hashes of the output', async () => {
    await start({ placement: 'prefix-aware', decodePlacement: 'pull' });
    await four();
    const lengthsSeen: (string | symbol)[] = [];
    const blockHashes = new Proxy(job().blockHashes, {
      get: (target, name) => {
        lengthsSeen.push(name);
        return Reflect.get(target, name) as unknown;
      },
    });
    routing.atArrival(job({ blockHashes }));
    routing.atArrival(job({ blockHashes }));
    const read = lengthsSeen.filter((name) => /^\d+$/.test(String(name))).map(Number);
    // 100 prompt tokens fill 6 blocks of 16; two more hashes follow.
    expect(Math.max(...read)).toBe(5);
  });

  it('INV-13: draws what the virtual clock draws for the same seed', async () => {
    await start({ placement: 'random', seed: 5 });
    await four();
    const spec = placerSpec(defaultConfig({ placement: 'random', seed: 5 }));
    const placer = new Placer(spec, RandomStream.root(5).stream('placement'));
    const context = placementContext({ engines: idleEngines(2) });
    for (let i = 0; i < 20; i++) {
      expect(routing.atArrival(job()).queue).toBe(`engine:p${placer.onPrefill(context)}`);
    }
  });

  it('keeps a short prompt on its decode engine', async () => {
    await start({ placement: 'least-requests', disaggregationThreshold: 100 });
    await four();
    expect(routing.atArrival(job())).toMatchObject({
      queue: 'engine:d2',
      job: { flow: 'local', placed: { stage: 'decode' } },
    });
    expect(routing.atArrival(job({ promptTokens: 101 })).queue).toBe('engine:p0');
  });

  it('predicts the TTFT from the waiting tokens and the time of the prompt', async () => {
    await start({
      placement: 'pull',
      admissionSloTtft: 100,
      stepTime: 'per-token',
      prefillTimePerToken: 1,
    });
    expect(routing.observeForAdmission('prefill', job(), 5)).toBeUndefined();
    await publish({ engineId: 'p0', waitingTokens: 50 }, { engineId: 'p1', waitingTokens: 150 });
    // Five prompts of 100 tokens wait, 200 tokens of them in engines; the others are shared by
    // both.
    expect(routing.observeForAdmission('prefill', job(), 5)?.predictedTtftUs()).toBeCloseTo(
      1_000 * (50 + 150 + 100),
      0,
    );
  });
});

describe('buildRouting', () => {
  it.each([
    [{}, false],
    [{ decodePlacement: 'pull' }, false],
    [{ decodeChoice: 'early' }, false],
    [{ placement: 'random' }, true],
    [{ decodePlacement: 'random' }, true],
    [{ disaggregationThreshold: 1 }, true],
    [{ admissionSloTtft: 1 }, true],
  ] as const)('listens to engines only where somebody has to know them: %j', (config, isOn) => {
    const whole = defaultConfig(config);
    expect(needsLoads(whole)).toBe(isOn);
    const routing = buildRouting({
      config: whole,
      transport: attachInProcess(),
      wall: new ManualWallClock(),
      log: {} as Logger,
      routerId: 'me',
      role: 'api',
      policyWatch: { onFault: () => undefined },
    });
    expect(routing).toBeInstanceOf(isOn ? PolicyRouting : SharedQueues);
  });
});
