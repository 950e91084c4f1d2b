import type { Fault, FaultAction, FaultNote, FaultStage } from '@baton/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PROMPT_US, TOKEN_US, TRANSFER_US, World, type WorldOptions } from '../../test/test-world';
import type { EngineHost } from './engine-host';

function fault(stage: FaultStage, action: FaultAction, more: Partial<Fault> = {}): Fault {
  return { rule: `${action.kind}-at-${stage}`, stage, action, ...more };
}

const ERROR = { kind: 'error', status: 503, afterTokens: 0 } as const;

describe('a job with faults', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.open();
  });

  afterEach(async () => {
    expect(world.blocksInUse()).toBe(0);
    await world.close();
  });

  async function pair(options: WorldOptions = {}): Promise<[EngineHost, EngineHost]> {
    return [await world.host('prefill', options), await world.host('decode', options)];
  }

  async function run(...faults: Fault[]): Promise<void> {
    await world.submit(1, { faults });
    await world.untilEnded(1);
  }

  function notes(): FaultNote[] {
    return world
      .of(1)
      .filter(({ kind }) => kind === 'fault')
      .map(({ tail }) => JSON.parse(tail ?? '{}') as FaultNote);
  }

  function firstTokenUs(): number {
    return world.of(1).find(({ kind }) => kind === 'tokens')?.stepEndUs ?? 0;
  }

  it.each(['prefill', 'transfer', 'decode'] as const)(
    'fails at %s, and says so before',
    async (stage) => {
      await pair();
      await run(fault(stage, ERROR));
      expect(world.ended(1)).toMatchObject({ reason: 'error', tail: '"injected_fault"', first: 0 });
      expect(notes()).toEqual([{ fault: 'error', stage, rule: `error-at-${stage}` }]);
      expect(world.tokens(1)).toEqual([]);
    },
  );

  it('fails between two tokens, and after the last but one', async () => {
    await pair();
    await run(fault('decode', { ...ERROR, afterTokens: 2 }));
    expect(world.tokens(1)).toEqual([0, 1]);
    expect(world.ended(1)).toMatchObject({ reason: 'error', first: 2 });
    await world.submit(2, { faults: [fault('decode', { ...ERROR, afterTokens: 4 })] });
    await world.untilEnded(2);
    expect(world.tokens(2)).toEqual([0, 1, 2, 3]);
    expect(world.ended(2)).toMatchObject({ reason: 'error', first: 4 });
  });

  it('is not affected by a fault after its end', async () => {
    await pair();
    await run(fault('decode', { ...ERROR, afterTokens: 5 }));
    expect(world.tokens(1)).toEqual([0, 1, 2, 3, 4]);
    expect(world.ended(1)?.reason).toBe('length');
    expect(notes()).toEqual([]);
  });

  it('waits at each stage for the given simulated time', async () => {
    await pair();
    const startUs = world.wall.nowUs();
    const plainUs = PROMPT_US + TRANSFER_US + TOKEN_US;
    const delay = (delayUs: number): FaultAction => ({ kind: 'delay', delayUs });
    await run(
      fault('prefill', delay(100_000)),
      fault('transfer', delay(200_000)),
      fault('decode', delay(400_000)),
    );
    expect(firstTokenUs() - startUs).toBe(plainUs + 700_000);
    expect(notes().map(({ stage }) => stage)).toEqual(['prefill', 'transfer', 'decode']);
    expect(world.tokens(1)).toEqual([0, 1, 2, 3, 4]);
  });

  it('gets its own share of the link', async () => {
    const link = { bytesPerSecond: 40_000, baseLatencyUs: 0, ports: 1 };
    const facts = { ...(await world.host('prefill')).options.facts, link };
    await world.host('decode', { host: { facts } });
    const startUs = world.wall.nowUs();
    await run(fault('transfer', { kind: 'slow-link', factor: 0.25 }));
    // 3 blocks of 16 tokens of one byte take 1.2 ms, at a quarter of the speed 4.8 ms.
    expect(firstTokenUs() - startUs).toBe(PROMPT_US + 4_800 + TOKEN_US);
  });

  it.each(['fail', 'recompute'] as const)(
    'finds its lease expired, and goes by the policy: %s',
    async (kvLoadFailurePolicy) => {
      const [prefill] = await pair({ host: { kvLoadFailurePolicy } });
      await run(fault('transfer', { kind: 'expire-lease' }));
      const isRecomputed = kvLoadFailurePolicy === 'recompute';
      expect(world.ended(1)?.tail).toBe(isRecomputed ? undefined : '"kv_load_failed"');
      expect(world.tokens(1)).toHaveLength(isRecomputed ? 5 : 0);
      expect(prefill.presence().counters['nixl_num_kv_expired_reqs']).toBe(1);
      expect(prefill.presence().gauges.heldBlocks).toBe(0);
    },
  );

  it.each(['prefill', 'decode'] as const)(
    'crashes its engine at %s, which ends what that had and goes on with a new one',
    async (stage) => {
      await pair();
      await world.submit(2, { outputTokens: 500, maxTokens: 500 });
      if (stage === 'decode') await world.wall.advanceUntil(() => world.tokens(2).length > 0, 1e6);
      await run(fault(stage, { kind: 'crash-engine', afterTokens: 0 }));
      expect(world.ended(1)?.tail).toBe('"engine_error"');
      await world.untilEnded(2);
      await world.submit(3);
      await world.untilEnded(3);
      expect(world.tokens(3)).toHaveLength(5);
      expect(notes()).toHaveLength(1);
    },
  );

  it('meets only faults in whose window it reaches the stage', async () => {
    await pair();
    const nowUs = world.wall.nowUs();
    const late = { window: [nowUs + PROMPT_US, Number.MAX_SAFE_INTEGER] } as const;
    await run(
      fault('prefill', ERROR, late),
      fault('decode', ERROR, { window: [nowUs, nowUs + 1] }),
    );
    expect(world.ended(1)?.reason).toBe('length');
    await world.submit(2, { faults: [fault('decode', ERROR, late)] });
    await world.untilEnded(2);
    expect(world.ended(2)?.reason).toBe('error');
  });

  it('meets prefill and decode in an engine that does both', async () => {
    await world.host('aggregated');
    const startUs = world.wall.nowUs();
    await world.submit(1, {
      flow: 'local',
      faults: [
        fault('prefill', { kind: 'delay', delayUs: 100_000 }),
        fault('decode', { kind: 'delay', delayUs: 50_000 }),
        fault('decode', { ...ERROR, afterTokens: 2 }),
      ],
    });
    await world.untilEnded(1);
    expect(firstTokenUs() - startUs).toBe(150_000 + PROMPT_US);
    expect(world.tokens(1)).toEqual([0, 1]);
    expect(notes().map(({ fault }) => fault)).toEqual(['delay', 'delay', 'error']);
  });

  it('can be aborted during a delay, and leaves nothing behind', async () => {
    await pair();
    const slow = fault('prefill', { kind: 'delay', delayUs: 5_000_000 });
    const job = await world.submit(1, { faults: [slow] });
    await world.abort(job.requestId);
    await world.wall.advance(6_000_000);
    expect(world.ended(1)?.reason).toBe('abort');
    expect(world.tokens(1)).toEqual([]);
  });
});

describe('a job that kills its process', () => {
  it.each(['prefill', 'decode'] as const)('at %s does so once', async (stage) => {
    const world = await World.open();
    const other = await world.host(stage === 'prefill' ? 'decode' : 'prefill');
    let kills = 0;
    const killed = await world.host(stage, {
      endProcess: () => {
        kills += 1;
        void world.kill(killed);
      },
    });
    const faults = [fault(stage, { kind: 'kill-process', afterTokens: 0 })];
    await world.submit(1, { faults });
    await world.wall.advanceUntil(() => kills > 0, 1e6);
    const next = await world.host(stage);
    // The job stalls in real time before another engine gets it.
    await vi.waitUntil(() => world.wall.advanceUntil(() => !!world.ended(1), 1e5), 10_000);
    expect(world.ended(1)?.reason).toBe('length');
    expect(world.tokens(1)).toEqual([0, 1, 2, 3, 4]);
    expect(world.of(1).filter(({ kind }) => kind === 'fault')).toHaveLength(1);
    for (const { presence } of [other, next].map((host) => ({ presence: host.presence() }))) {
      expect([presence.gauges.kvUsage, presence.gauges.heldBlocks]).toEqual([0, 0]);
    }
    await world.close();
  });
});
