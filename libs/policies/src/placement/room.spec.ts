import type { EngineSnapshot } from '@baton/engine';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Room } from './room';

const FACTS = {
  model: 'm',
  maxNumSeqs: 32,
  maxNumBatchedTokens: 1_024,
  blockSize: 16,
  numBlocks: 1_000,
  tensorParallelSize: 1,
  kvBytesPerToken: 1,
  link: { bytesPerSecond: 1, baseLatencyUs: 0 },
};
const NOTHING = { sequences: 0, promptTokens: 0 };

function snapshot(over: Partial<EngineSnapshot> = {}): EngineSnapshot {
  return {
    running: 0,
    waiting: 0,
    deferred: 0,
    waitingTokens: 0,
    freeBlocks: 1_000,
    heldBlocks: 0,
    leaving: 0,
    kvUsage: 0,
    ...over,
  };
}

describe('room for more jobs', () => {
  it('on prefill is one step of waiting prompt tokens, independent of running ones', () => {
    const room = new Room('prefill', FACTS);
    expect(room.left(snapshot({ running: 32 }), NOTHING, 0)).toBeGreaterThan(0);
    expect(room.left(snapshot({ waiting: 1, waitingTokens: 1_024 }), NOTHING, 0)).toBe(0);
    expect(room.left(snapshot(), { sequences: 1, promptTokens: 2_000 }, 0)).toBe(0);
  });

  it('on prefill follows the length of incoming prompts', () => {
    const room = new Room('prefill', FACTS);
    for (let i = 0; i < 200; i += 1) room.observe(1_000);
    expect(room.left(snapshot(), NOTHING, 0)).toBe(1);
    for (let i = 0; i < 200; i += 1) room.observe(32);
    expect(room.left(snapshot(), NOTHING, 0)).toBeGreaterThan(30);
  });

  it('on decode exceeds slots and blocks by a little', () => {
    const room = new Room('decode', FACTS);
    expect(room.left(snapshot({ running: 32 }), NOTHING, 0)).toBe(2);
    expect(room.left(snapshot({ running: 32, waiting: 2 }), NOTHING, 0)).toBe(0);
    expect(room.left(snapshot({ freeBlocks: 0 }), NOTHING, 1)).toBe(1);
    expect(room.left(snapshot({ freeBlocks: 0 }), NOTHING, 2)).toBe(0);
  });

  it('on decode is not limited by the lookahead while there are blocks', () => {
    const room = new Room('decode', FACTS);
    expect(room.left(snapshot({ running: 1, waiting: 5 }), NOTHING, 5)).toBeGreaterThan(5);
  });

  it('is never negative, nor above the slots and lookahead of an empty engine', () => {
    const count = fc.nat(200);
    const state = fc.record({ running: count, waiting: count, deferred: count, freeBlocks: count });
    fc.assert(
      fc.property(state, count, count, (engine, incoming, unreserved) =>
        (['prefill', 'decode', 'aggregated'] as const).every((role) => {
          const taken = { sequences: incoming, promptTokens: incoming * 50 };
          const left = new Room(role, FACTS).left(snapshot(engine), taken, unreserved);
          return Number.isInteger(left) && left >= 0 && left <= 34;
        }),
      ),
    );
  });
});
