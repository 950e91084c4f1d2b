import type { StepTimeModel } from '@baton/step-time';
import { describe, expect, it } from 'vitest';
import { READABLE, specOf, TestEngine } from '../test/test-engine';

const ALL_CONTENTS = Int32Array.from([1, 2, 3, 11, 12, 13, 21]);
const JITTERY: StepTimeModel = {
  ...READABLE,
  tokenJitterUs: (_seed, requestHash, index) => (requestHash % 1000) + index,
};

describe('the specification of a sequence', () => {
  it('may name a part of a longer array as the contents of its blocks', () => {
    const test = new TestEngine();
    const part = { blockHashes: ALL_CONTENTS, blockFrom: 3, blockCount: 3 };
    test.submit('shared', { ...part, promptTokens: 17, outputTokens: 1 });
    test.step();
    const { contents } = test.engine.cacheState();
    expect(contents.filter((id) => id !== 0).sort()).toEqual([11, 12, 13]);
    test.submit('again', { ...part, promptTokens: 17, outputTokens: 1 });
    test.submit('other', { ...part, blockFrom: 0, promptTokens: 17, outputTokens: 1 });
    test.step();
    expect(test.engine.cachedTokens(test.handle('again'))).toBe(12);
    expect(test.engine.cachedTokens(test.handle('other'))).toBe(0);
  });

  it('is copied, so that one object can serve all submissions', () => {
    const test = new TestEngine();
    const spec = { ...specOf('a', { outputTokens: 2 }) };
    test.engine.submit(spec);
    Object.assign(spec, { promptTokens: 99, outputTokens: 5, mode: 'remote-prefill' });
    test.runToRest();
    expect(test.engine.counters).toMatchObject({ finished: 1, generatedTokens: 2 });
  });

  it('seeds jitter by a number instead of a name, and needs one of the two', () => {
    const test = new TestEngine({ stepTime: JITTERY });
    const handle = test.submit('a', { requestHash: 7_042 });
    test.step();
    expect(test.engine.tokenOffsetUs(handle)).toBe(42);
    const nameless = { promptTokens: 8, outputTokens: 2, endReason: 'stop' } as const;
    const rest = { blockHashes: [], priority: 0, arrivalUs: 0, mode: 'generate' } as const;
    expect(() => test.engine.submit({ ...nameless, ...rest })).toThrow(/jitter/);
    expect(new TestEngine().engine.submit({ ...nameless, ...rest }).kind).toBe('accepted');
  });
});
