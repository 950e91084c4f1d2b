import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/support/runs';
import type { StepTimeModel } from '@baton/step-time';
import { TestEngine, type StepSeen } from '../test/test-engine';

/** Steps take 1000 µs, 10 more for each token of prompt and 1 for each of context. */
function asyncEngine(options: ConstructorParameters<typeof TestEngine>[0] = {}): TestEngine {
  return new TestEngine({ asyncScheduling: true, ...options });
}

const LENGTH = { endReason: 'length' } as const;

function endsOf(told: readonly StepSeen[]): [us: number, who: string][] {
  return told.map(({ endUs, emitted }) => [endUs, emitted.join(' ')]);
}

describe('with async scheduling', () => {
  it('a request that arrives during a step joins the batch after the next', () => {
    const test = asyncEngine();
    test.submit('a', { outputTokens: 5, ...LENGTH });
    test.engine.beginStep(0);
    // The next batch is already formed: vLLM schedules it while this one runs.
    test.submit('b', { outputTokens: 1, ...LENGTH });
    test.nowUs = 1080;
    test.engine.endStep();
    expect(test.step()).toMatchObject({ scheduled: ['b'], emitted: ['a'], endUs: 2089 });
    expect(test.step()).toMatchObject({ firstTokens: ['b'], endUs: 2089 + 1000 + 80 + 10 });
  });

  it('a request to an idle engine starts at once', () => {
    const test = asyncEngine();
    test.submit('a', { outputTokens: 1, ...LENGTH });
    expect(endsOf(test.runToRest())).toEqual([[1080, 'a']]);
    test.nowUs = 5000;
    test.submit('b', { outputTokens: 1, ...LENGTH });
    expect(endsOf(test.runToRest())).toEqual([[6080, 'b']]);
  });

  it('an output that ends by its limit takes no further step', () => {
    const test = asyncEngine();
    test.submit('a', { outputTokens: 2, ...LENGTH });
    expect(test.runToRest()).toMatchObject([
      { endUs: 1080, finished: [] },
      { endUs: 2089, finished: ['a'] },
    ]);
  });

  it('an output that stops has a row in the next step, whose token is dropped', () => {
    const test = asyncEngine();
    test.submit('a', { outputTokens: 2, endReason: 'stop' });
    test.step();
    expect(test.step()).toMatchObject({ endUs: 2089, emitted: ['a'], finished: ['a'] });
    expect(test.engine.hasWork()).toBe(true);
    expect(test.engine.snapshot()).toMatchObject({ running: 0, freeBlocks: 100 });
    expect(test.step()).toMatchObject({ endUs: 2089 + 1000 + 10, emitted: [], finished: [] });
    expect(test.step()).toBeUndefined();
    expect(test.engine.counters).toMatchObject({ steps: 3, generatedTokens: 2 });
  });

  it('a freed slot is filled one step later', () => {
    const test = asyncEngine({ maxNumSeqs: 2 });
    test.submit('a', { outputTokens: 2, ...LENGTH });
    test.submit('c', { outputTokens: 9, ...LENGTH });
    test.submit('b', { outputTokens: 9, ...LENGTH });
    test.step();
    expect(test.step()).toMatchObject({ endUs: 2178, finished: ['a'] });
    // Formed when a still had its slot.
    expect(test.step()).toMatchObject({ emitted: ['c'], scheduled: ['b'], endUs: 3188 });
    expect(test.step()).toMatchObject({ firstTokens: ['b'], endUs: 3188 + 1000 + 80 + 11 });
  });

  it('the slot of a held prompt is filled one step later', () => {
    const test = asyncEngine({ maxNumSeqs: 1 });
    for (const name of ['a', 'b']) test.submit(name, { mode: 'prefill-and-hold' });
    expect(test.step()).toMatchObject({ held: ['a'] });
    expect(test.step()).toMatchObject({ scheduled: ['b'], held: ['b'] });
  });

  it('an aborted request keeps its row in the batch that is already formed', () => {
    const test = asyncEngine();
    for (const name of ['a', 'b']) test.submit(name, { outputTokens: 9, ...LENGTH });
    test.step();
    test.engine.beginStep(test.nowUs);
    test.engine.abort(test.handle('b'));
    expect(test.engine.tokensEmitted(test.handle('a'))).toBe(1);
    test.nowUs = test.engine.endStep().endUs;
    expect(test.nowUs).toBe(1160 + 1018);
    expect(test.step()).toMatchObject({ endUs: 2178 + 1020, emitted: ['a'] });
    expect(test.step()).toMatchObject({ endUs: 3198 + 1011, emitted: ['a'] });
  });

  it('chunks of one prompt follow one another without a gap', () => {
    const test = asyncEngine({ maxNumBatchedTokens: 8 });
    test.submit('a', { promptTokens: 20, outputTokens: 2, ...LENGTH });
    test.engine.beginStep(0);
    expect(test.engine.computedTokens(test.handle('a'))).toBe(0);
    test.nowUs = test.engine.endStep().endUs;
    expect(test.engine.computedTokens(test.handle('a'))).toBe(8);
    expect(endsOf(test.runToRest())).toEqual([
      [2160, ''],
      [3200, 'a'],
      [4221, 'a'],
    ]);
  });

  it('a preempted sequence still gets the token that is on its way', () => {
    const test = asyncEngine({ numBlocks: 6 });
    test.submit('s0', { outputTokens: 16, ...LENGTH });
    test.submit('s1', { outputTokens: 13, ...LENGTH });
    const told = test.runToRest();
    const at = told.findIndex(({ preempted }) => preempted.length > 0);
    expect(told[at]).toMatchObject({ preempted: ['s1'], emitted: ['s0', 's1'] });
    const tokens = told.reduce((sum, { emitted }) => sum + emitted.length, 0);
    expect(tokens).toBe(29);
    expect(test.engine.counters).toMatchObject({ preemptions: 1, generatedTokens: 29 });
  });

  it('a pull starts when the batch after the step under way is formed', () => {
    const test = asyncEngine();
    test.submit('a', { outputTokens: 9, ...LENGTH });
    test.submit('r', { mode: 'remote-prefill', outputTokens: 2, ...LENGTH });
    expect(test.reserve()).toBe('r lacks 8');
    expect(test.endStep().endUs).toBe(1080);
    test.engine.kvArrived(test.handle('r'));
    expect(test.step()).toMatchObject({ scheduled: ['r'], emitted: ['a'], firstTokens: [] });
    expect(test.step()).toMatchObject({ emitted: ['a', 'r'], firstTokens: ['r'] });
  });

  it('a pull aborted in a batch formed ahead leaves no first token to the next of its handle', () => {
    const test = asyncEngine();
    test.submit('a', { outputTokens: 1, endReason: 'stop' });
    test.submit('r', { mode: 'remote-prefill', outputTokens: 1, endReason: 'stop' });
    test.reserve();
    expect(test.endStep().finished).toEqual(['a']);
    const handle = test.handle('r');
    test.engine.kvArrived(handle);
    // The row of `a` whose token is dropped, while the batch with `r` is formed.
    test.engine.beginStep(test.nowUs);
    test.engine.abort(handle);
    test.nowUs = test.engine.endStep().endUs;
    test.engine.beginStep(test.nowUs);
    test.submit('b', { outputTokens: 2, ...LENGTH });
    test.submit('c', { outputTokens: 2, ...LENGTH });
    expect([test.handle('b'), test.handle('c')]).toContain(handle);
    expect(test.endStep().firstTokens).toEqual([]);
    expect(test.runToRest().flatMap(({ firstTokens }) => firstTokens)).toEqual(['b', 'c']);
  });

  it('reports possible room as soon as the next batch has admitted', () => {
    const test = asyncEngine();
    test.submit('a', { outputTokens: 3, ...LENGTH });
    test.engine.beginStep(0);
    expect(test.engine.hasAdmitted).toBe(true);
    test.nowUs = test.engine.endStep().endUs;
    test.engine.beginStep(test.nowUs);
    expect(test.engine.hasAdmitted).toBe(false);
  });

  it('steps follow each other by themselves until a sequence ends or another arrives', () => {
    const test = asyncEngine();
    test.submit('a', { outputTokens: 10, ...LENGTH });
    test.submit('b', { outputTokens: 30, ...LENGTH });
    test.step();
    expect(test.step(Infinity)).toMatchObject({ steps: 9, finished: ['a'] });
    const endUs = test.engine.beginStep(test.nowUs)!;
    expect(test.engine.nextUs(Infinity)).toBeGreaterThan(endUs);
    test.submit('c', { outputTokens: 1, ...LENGTH });
    test.engine.advanceTo(endUs + 9_000);
    expect(test.engine.endStep()).toMatchObject({ later: { steps: 0 }, endUs });
    test.nowUs = endUs;
    expect(test.step(Infinity)).toMatchObject({ steps: 1, scheduled: ['c'], emitted: ['b'] });
    expect(test.step(Infinity)).toMatchObject({ steps: 1, finished: ['c'] });
    expect(test.step(Infinity)).toMatchObject({ finished: ['b'] });
  });

  it('steps go on by themselves when the batch formed has a sequence more', () => {
    const test = asyncEngine();
    test.submit('a', { outputTokens: 30, ...LENGTH });
    test.step();
    test.engine.beginStep(test.nowUs);
    test.submit('b', { outputTokens: 9, mode: 'remote-prefill', ...LENGTH });
    test.nowUs = test.engine.endStep().endUs;
    test.engine.beginStep(test.nowUs);
    test.engine.kvArrived(test.engine.reserveNext()!.handle);
    const startUs = test.engine.endStep().endUs;
    // The step that begins now lacks b; the batch behind it has it.
    const endUs = test.engine.beginStep(startUs)!;
    expect(test.engine.bringsFirstTokens).toBe(true);
    test.engine.advanceTo(test.engine.nextUs(Infinity));
    const facts = test.engine.endStep();
    expect(facts).toMatchObject({ startUs, firstEndUs: endUs, firstTokens: [] });
    expect(facts.later).toMatchObject({ steps: 9, tokens: 2, continue: false });
    expect(facts.later.firstTokens).toEqual([test.handle('b')]);
    expect(facts.finished).toEqual([test.handle('b')]);
  });

  it('steps go on by themselves behind the step that ends a prompt', () => {
    const test = asyncEngine();
    test.submit('a', { outputTokens: 10, ...LENGTH });
    const endUs = test.engine.beginStep(0)!;
    test.engine.advanceTo(test.engine.nextUs(Infinity));
    const facts = test.engine.endStep();
    expect(facts).toMatchObject({ firstEndUs: endUs, firstTokens: [test.handle('a')] });
    expect(facts.later).toMatchObject({ steps: 9, tokens: 1, firstTokens: [], continue: false });
    expect(facts.finished).toEqual([test.handle('a')]);
    expect(test.engine.counters).toMatchObject({ steps: 10, promptTokensComputed: 8 });
  });

  it('no step begins by itself when it is the last of a sequence whose slot another waits for', () => {
    const test = asyncEngine({ maxNumSeqs: 1 });
    test.submit('a', { outputTokens: 10, ...LENGTH });
    test.step();
    test.submit('b', { outputTokens: 1, ...LENGTH });
    expect(test.step(Infinity)).toMatchObject({ steps: 8, finished: [] });
    expect(test.step(Infinity)).toMatchObject({ steps: 1, finished: ['a'] });
  });
});

describe('with async scheduling and drafts', () => {
  it('a batch assumes that all drafts of the step under way are right, and has room for its own after them', () => {
    const speculation = { tokens: 3, acceptanceRate: 0 };
    const test = asyncEngine({ speculation });
    test.submit('a', { outputTokens: 9, ...LENGTH });
    test.step();
    // 8 tokens are in KV, 1 + 3 come with the step under way, 1 + 3 with the next.
    test.engine.beginStep(test.nowUs);
    expect(test.engine.snapshot().freeBlocks).toBe(100 - 16 / 4);
    expect(test.engine.tokensEmitted(test.handle('a'))).toBe(1);
    expect(test.endStep()).toMatchObject({ emitted: ['a'] });
    expect(test.engine.tokensEmitted(test.handle('a'))).toBe(2);
  });

  it('gives a request the same bursts as without async scheduling', () => {
    const bursts = [true, false].map((asyncScheduling) => {
      const test = asyncEngine({
        asyncScheduling,
        speculation: { tokens: 4, acceptanceRate: 0.6 },
      });
      test.submit('other', { outputTokens: 50, ...LENGTH });
      test.submit('a', { outputTokens: 40, ...LENGTH });
      const seen: number[] = [];
      for (let told = test.step(); told !== undefined; told = test.step()) {
        if (told.emitted.includes('a')) seen.push(test.engine.tokensInStep(test.handle('a')));
      }
      return seen;
    });
    expect(new Set(bursts[0]).size).toBeGreaterThan(2);
    expect(bursts[0]).toEqual(bursts[1]);
  });

  it('an output that a burst may end has a row in the next step, others have none', () => {
    const ends = [0, 1].map((acceptanceRate) => {
      const test = asyncEngine({ speculation: { tokens: 2, acceptanceRate } });
      test.submit('a', { outputTokens: 4, ...LENGTH });
      return test.runToRest().map(({ emitted, finished }) => [...emitted, ...finished].join());
    });
    expect(ends).toEqual([
      ['a', 'a', 'a', 'a,a'],
      ['a', 'a,a', ''],
    ]);
  });

  it('a sequence at the end of the context waits until the step under way shows its length', () => {
    const speculation = { tokens: 3, acceptanceRate: 0 };
    const test = asyncEngine({ speculation, maxModelLen: 12 });
    test.submit('a', { outputTokens: 4, ...LENGTH });
    const told = test.runToRest().map(({ emitted, finished }) => [...emitted, ...finished].join());
    // Drafts up to the eleventh token are in flight, so the next batch has no token of it.
    expect(told).toEqual(['a', 'a', 'a', 'a,a']);
    expect(test.engine.counters.generatedTokens).toBe(4);
  });

  it('counts every token once', () => {
    const request = fc.record({
      outputTokens: fc.integer({ min: 1, max: 40 }),
      endReason: fc.constantFrom('stop' as const, 'length' as const),
    });
    fc.assert(
      fc.property(
        fc.array(request, { minLength: 1, maxLength: 8 }),
        fc.integer(),
        (specs, seed) => {
          const speculation = { tokens: 3, acceptanceRate: 0.6 };
          const test = asyncEngine({ speculation, numBlocks: 30, maxModelLen: 60, seed });
          const given = specs.map(() => 0);
          specs.forEach((spec, i) => test.submit(`${i}`, spec));
          for (let told = test.step(); told !== undefined; told = test.step()) {
            for (const name of told.emitted) {
              given[Number(name)]! += test.engine.tokensInStep(test.handle(name));
            }
          }
          expect(given).toEqual(specs.map(({ outputTokens }) => outputTokens));
          const total = given.reduce((sum, tokens) => sum + tokens, 0);
          expect(test.engine.counters.generatedTokens).toBe(total);
          expect(test.engine.snapshot()).toMatchObject({ running: 0, waiting: 0, freeBlocks: 30 });
        },
      ),
      { numRuns: runsOf(60) },
    );
  });
});

describe('the price of async scheduling', () => {
  const EVEN: StepTimeModel = {
    description: 'even',
    stepUs: () => 1000,
    decodeLaw: () => ({ baseUs: 1000, perContextUs: 0, contextLimit: Infinity }),
  };
  const arrivals = fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 12 });

  /** First tokens of requests that arrive while another, longer one decodes. */
  function firstTokens(asyncScheduling: boolean, arrivalsUs: readonly number[]): number[] {
    const test = new TestEngine({
      asyncScheduling,
      stepTime: EVEN,
      numBlocks: 200,
      maxNumSeqs: 32,
      maxNumBatchedTokens: 1000,
    });
    test.submit('long', { outputTokens: 60, ...LENGTH });
    const firstUs = new Map<string, number>();
    for (let endUs = test.engine.beginStep(0); endUs !== undefined;) {
      for (const [i, us] of arrivalsUs.entries()) {
        if (us > test.nowUs && us <= endUs) test.submit(`${i}`, { outputTokens: 3, ...LENGTH });
      }
      const told = test.endStep();
      for (const name of told.firstTokens) firstUs.set(name, told.endUs);
      endUs = test.engine.beginStep(test.nowUs);
    }
    return arrivalsUs.map((_, i) => firstUs.get(`${i}`)!);
  }

  it('is one step for each request that arrives while others decode', () => {
    fc.assert(
      fc.property(arrivals, (arrivalsUs) => {
        const later = firstTokens(false, arrivalsUs).map((us) => us + 1000);
        expect(firstTokens(true, arrivalsUs)).toEqual(later);
      }),
      { numRuns: runsOf(30) },
    );
  });
});
