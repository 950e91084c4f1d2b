import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/support/runs';
import { followToRest, HOP_US, pipelineOf, tandemEnds, worldOf } from '../test/staged-engine';
import { TestEngine, type StepSeen } from '../test/test-engine';

function testEngine(stagesUs: readonly number[], options = {}): TestEngine {
  return new TestEngine({ stepTime: pipelineOf(...stagesUs), asyncScheduling: true, ...options });
}

/** Ends by its token limit. */
const LIMITED = { endReason: 'length' } as const;

const timesOf = (told: readonly StepSeen[]): [us: number, who: string][] =>
  told.map(({ endUs, emitted }) => [endUs, emitted.join(' ')]);

describe('an engine with pipeline stages and async scheduling', () => {
  it('gives a single request each token after all stages and hops', () => {
    const engine = testEngine([100, 200, 300]);
    engine.submit('a', { ...LIMITED, promptTokens: 8, outputTokens: 3 });
    const prompt = 600 + 3 * 80 + 2 * HOP_US;
    const token = 600 + 2 * HOP_US;
    expect(timesOf(engine.runToRest())).toEqual([
      [prompt, 'a'],
      [prompt + token, 'a'],
      [prompt + 2 * token, 'a'],
    ]);
  });

  it('keeps one batch more in the queue than it has stages', () => {
    const engine = testEngine([100, 100], { maxNumBatchedTokens: 8 });
    engine.submit('a', { ...LIMITED, promptTokens: 40, outputTokens: 1 });
    engine.begin();
    // Three chunks of 8 tokens, in blocks of 4.
    expect(engine.engine.snapshot().freeBlocks).toBe(100 - 3 * 2);
  });

  it('runs a sequence in every batch of its own set, with a placeholder for the token in flight', () => {
    const engine = testEngine([100, 100], { maxNumBatchedTokens: 8 });
    engine.submit('a', { ...LIMITED, promptTokens: 8, outputTokens: 3 });
    engine.submit('b', { ...LIMITED, promptTokens: 8, outputTokens: 3 });
    const told = engine.runToRest();
    expect(timesOf(told)).toEqual([
      [367, 'a'],
      [547, 'b'],
      [647, 'a'],
      [754, 'b'],
      [854, 'a'],
      [961, 'b'],
    ]);
    expect(told.map(({ previousUs }) => previousUs)).toEqual([0, 0, 367, 547, 647, 754]);
  });

  it('makes a request that arrives while batches are in flight wait for one batch more', () => {
    const engine = testEngine([100, 100], { maxNumBatchedTokens: 8 });
    engine.submit('a', { ...LIMITED, promptTokens: 8, outputTokens: 4 });
    engine.submit('b', { ...LIMITED, promptTokens: 8, outputTokens: 4 });
    engine.step();
    engine.begin();
    engine.submit('c', { ...LIMITED, promptTokens: 1, outputTokens: 1 });
    const firsts = engine.runToRest().filter(({ firstTokens }) => firstTokens.length > 0);
    // After a and b, whose batches of this instant and the next are formed.
    expect(firsts.at(-1)).toMatchObject({ firstTokens: ['c'], emitted: ['a', 'c'] });
  });

  it('schedules the chunks of a prompt in one batch after the other', () => {
    const engine = testEngine([100, 100], { maxNumBatchedTokens: 8 });
    engine.submit('a', { ...LIMITED, promptTokens: 20, outputTokens: 2 });
    const told = engine.runToRest();
    const [stage, shortStage] = [100 + 80, 100 + 40];
    expect(told.map(({ endUs }) => endUs)).toEqual([
      2 * stage + HOP_US,
      3 * stage + HOP_US,
      3 * stage + HOP_US + shortStage,
      3 * stage + HOP_US + shortStage + 200 + HOP_US,
    ]);
    expect(told.map(({ emitted }) => emitted)).toEqual([[], [], ['a'], ['a']]);
  });

  it('keeps sequences that came together in one batch and leaves other stages idle', () => {
    const engine = testEngine([100, 100]);
    engine.submit('a', { ...LIMITED, outputTokens: 3 });
    engine.submit('b', { ...LIMITED, outputTokens: 3 });
    const told = engine.runToRest();
    expect(told.map(({ emitted }) => emitted)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(told[2]!.endUs - told[1]!.endUs).toBe(200 + HOP_US);
  });

  it('admits a request at once into a batch of idle stages', () => {
    const engine = testEngine([100, 100]);
    engine.submit('a', { ...LIMITED, promptTokens: 8, outputTokens: 3 });
    engine.step();
    engine.submit('b', { ...LIMITED, promptTokens: 8, outputTokens: 1 });
    // The batch with b is formed when that of a has ended, behind the next batch of a.
    expect(engine.runToRest().map(({ emitted }) => emitted)).toEqual([['a'], ['b'], ['a']]);
  });

  it('runs a row for an output that stops, and drops its token', () => {
    const engine = testEngine([100, 100]);
    engine.submit('a', { promptTokens: 8, outputTokens: 2, endReason: 'stop' });
    const told = engine.runToRest();
    expect(told.map(({ emitted, finished }) => [emitted, finished])).toEqual([
      [['a'], []],
      [['a'], ['a']],
      [[], []],
    ]);
  });

  it('gives an aborted request no further token', () => {
    const engine = testEngine([100, 100], { maxNumBatchedTokens: 8 });
    engine.submit('a', { ...LIMITED, promptTokens: 8, outputTokens: 5 });
    engine.submit('b', { ...LIMITED, promptTokens: 8, outputTokens: 1 });
    engine.step();
    engine.engine.beginStep(engine.nowUs);
    engine.engine.abort(engine.handle('a'));
    engine.engine.endStep();
    engine.engine.audit();
    expect(engine.runToRest().flatMap(({ emitted }) => emitted)).toEqual([]);
    expect(engine.engine.snapshot()).toMatchObject({ running: 0, freeBlocks: 100 });
  });
});

describe('a full pipeline with async scheduling', () => {
  const stages = fc.array(fc.integer({ min: 20, max: 500 }), { minLength: 2, maxLength: 5 });

  it('advances each batch when it reaches a stage that the batch before has left', () => {
    fc.assert(
      fc.property(stages, (stagesUs) => {
        const engine = testEngine(stagesUs, { maxNumBatchedTokens: 8, numBlocks: 1000 });
        stagesUs.forEach((_, i) => engine.submit(`${i}`, { promptTokens: 8, outputTokens: 60 }));
        const ends = engine.runToRest().map(({ endUs }) => endUs);
        expect(ends).toEqual(tandemEnds(stagesUs, ends.length));
      }),
      { numRuns: runsOf(40) },
    );
  });
});

describe('a pipeline with async scheduling', () => {
  it('ends every request with all of its tokens, in steps that go forward in time', () => {
    fc.assert(
      fc.property(worldOf(), ({ stages, requests, ...options }) =>
        followToRest(testEngine(stages, options), requests),
      ),
      { numRuns: runsOf(150) },
    );
  });
});
