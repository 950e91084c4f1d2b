import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/support/runs';
import { layoutOfEngine } from './engine-limits';
import { followToRest, HOP_US, pipelineOf, tandemEnds, worldOf } from '../test/staged-engine';
import { TestEngine, type StepSeen } from '../test/test-engine';

function testEngine(stagesUs: readonly number[], options = {}): TestEngine {
  return new TestEngine({ stepTime: pipelineOf(...stagesUs), ...options });
}

/** Runs to rest; returns the end of each step by the sequences that got tokens in it. */
function timesOf(told: readonly StepSeen[]): [us: number, who: string][] {
  return told.map(({ endUs, emitted }) => [endUs, emitted.join(' ')]);
}

describe('an engine with pipeline stages', () => {
  it('gives a single request each token after all stages and hops', () => {
    const engine = testEngine([100, 200, 300]);
    engine.submit('a', { promptTokens: 8, outputTokens: 3 });
    const prompt = 600 + 3 * 80 + 2 * HOP_US;
    const token = 600 + 2 * HOP_US;
    expect(timesOf(engine.runToRest())).toEqual([
      [prompt, 'a'],
      [prompt + token, 'a'],
      [prompt + 2 * token, 'a'],
    ]);
  });

  it('schedules a request again only when its output is back, but its next chunk at once', () => {
    const engine = testEngine([100, 100], { maxNumBatchedTokens: 8 });
    engine.submit('a', { promptTokens: 20, outputTokens: 2 });
    const told = [engine.step()!];
    expect(engine.engine.computedTokens(engine.handle('a'))).toBe(8);
    told.push(...engine.runToRest());
    const [stage, shortStage] = [100 + 80, 100 + 40];
    expect(told.map(({ endUs }) => endUs)).toEqual([
      2 * stage + HOP_US,
      // The second chunk follows one stage behind.
      3 * stage + HOP_US,
      // The third begins when the first has passed, and finds the second in the last stage.
      3 * stage + HOP_US + shortStage,
      3 * stage + HOP_US + shortStage + 200 + HOP_US,
    ]);
    expect(told.map(({ emitted }) => emitted)).toEqual([[], [], ['a'], ['a']]);
  });

  it('runs batches of the same instant one behind the other', () => {
    const engine = testEngine([100, 100], { maxNumBatchedTokens: 8 });
    engine.submit('a', { promptTokens: 8, outputTokens: 3 });
    engine.submit('b', { promptTokens: 8, outputTokens: 3 });
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

  it('keeps sequences that came together in one batch and leaves other stages idle, as vLLM does', () => {
    const engine = testEngine([100, 100]);
    engine.submit('a', { outputTokens: 3 });
    engine.submit('b', { outputTokens: 3 });
    const told = engine.runToRest();
    expect(told.map(({ emitted }) => emitted)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(told[2]!.endUs - told[1]!.endUs).toBe(200 + HOP_US);
  });

  it('makes requests that arrive while batches are in flight wait for the end of the oldest', () => {
    const engine = testEngine([100, 100]);
    engine.submit('a', { outputTokens: 2 });
    engine.engine.beginStep(0);
    engine.submit('b', { outputTokens: 1 });
    expect(engine.engine.endStep().scheduled).toEqual([engine.handle('a')]);
    engine.nowUs = 367;
    expect(engine.step()).toMatchObject({ scheduled: ['b'], emitted: ['a', 'b'] });
  });

  it('keeps the place of a batch without tokens until the batches before it have ended', () => {
    const engine = testEngine([100, 100, 100], { maxNumBatchedTokens: 8 });
    engine.submit('a', { promptTokens: 8, outputTokens: 4 });
    engine.submit('b', { promptTokens: 8, outputTokens: 1 });
    engine.submit('c', { promptTokens: 8, outputTokens: 4 });
    const steps = [engine.step(), engine.step(), engine.step()];
    expect(steps.map((step) => step!.emitted)).toEqual([['a'], ['b'], ['c']]);
    // When b ended, a and c were in flight, so the next batch is empty.
    engine.submit('d', { promptTokens: 16, outputTokens: 1 });
    expect(engine.step()!.emitted).toEqual(['a']);
    expect(engine.step()!.emitted).toEqual(['c']);
    expect(engine.engine.computedTokens(engine.handle('d'))).toBe(7);
    expect(engine.step()!.emitted).toEqual(['a']);
    expect(engine.engine.computedTokens(engine.handle('d'))).toBe(14);
  });

  it('counts the tokens of all stages in the blocks of a window, and of the batch formed ahead', () => {
    const kvGroups = { full: 1, windowed: 3, windowTokens: 20 };
    const sizes = { blockSize: 4, kvGroups, enableChunkedPrefill: true };
    const most = (stages: number, tokens: number, asyncScheduling: boolean): number =>
      layoutOfEngine({ ...sizes, maxNumBatchedTokens: tokens, asyncScheduling }, stages).needed(
        500,
      );
    expect(most(3, 8, false)).toBe(most(1, 24, false));
    expect(most(3, 8, true)).toBe(most(1, 32, false));
    expect(most(3, 8, false)).toBeGreaterThan(most(1, 8, false));
  });

  it('lets others find the block that an aborted request fills with its batch in flight', () => {
    const options = { promptTokens: 8, blockHashes: [1, 2, 3] };
    const findsAfter = (tokens: number): number => {
      const engine = testEngine([100, 100], { maxNumBatchedTokens: 8 });
      engine.submit('a', { ...options, outputTokens: 8 });
      engine.submit('b', { outputTokens: 8 });
      const isBehind = (): boolean => engine.engine.tokensEmitted(engine.handle('b')) < tokens;
      while (isBehind()) engine.step();
      engine.engine.abort(engine.handle('a'));
      engine.submit('c', { promptTokens: 16, blockHashes: [1, 2, 3] });
      engine.runToRest();
      return engine.engine.cachedTokens(engine.handle('c'));
    };
    expect([findsAfter(3), findsAfter(4)]).toEqual([8, 12]);
  });

  it('gives an aborted request no further token, and frees its blocks at once', () => {
    const engine = testEngine([100, 100], { maxNumBatchedTokens: 8 });
    engine.submit('a', { promptTokens: 24, outputTokens: 2 });
    engine.submit('b', { promptTokens: 8, outputTokens: 1 });
    engine.step();
    engine.engine.beginStep(engine.nowUs);
    engine.engine.abort(engine.handle('a'));
    engine.engine.endStep();
    expect(engine.engine.snapshot()).toMatchObject({ running: 0, waiting: 1, freeBlocks: 100 });
    engine.engine.audit();
  });

  it('continues after a pause in which batches ended', () => {
    const engine = testEngine([100, 100], { maxNumBatchedTokens: 8 });
    engine.submit('a', { promptTokens: 8, outputTokens: 1 });
    engine.submit('b', { promptTokens: 8, outputTokens: 1 });
    engine.step();
    engine.nowUs = 10_000;
    expect(engine.step()).toMatchObject({ endUs: 10_001, finished: ['b'] });
    expect(engine.step()).toBeUndefined();
  });

  it('holds the prompts of a batch for other engines when that batch has ended', () => {
    const engine = testEngine([100, 100], { maxNumBatchedTokens: 8 });
    engine.submit('a', { promptTokens: 8, mode: 'prefill-and-hold' });
    engine.submit('b', { promptTokens: 8, mode: 'prefill-and-hold' });
    expect(engine.step()).toMatchObject({ held: ['a'], endUs: 367 });
    expect(engine.step()).toMatchObject({ held: ['b'], endUs: 547 });
    expect(engine.engine.snapshot()).toMatchObject({ running: 0, heldBlocks: 4 });
  });

  it('takes KV from elsewhere: the first token comes with the batch that admits the request', () => {
    const engine = testEngine([100, 100]);
    engine.submit('a', { promptTokens: 8, outputTokens: 2, mode: 'remote-prefill' });
    expect(engine.reserve()).toBe('a lacks 8');
    engine.engine.kvArrived(engine.handle('a'));
    expect(engine.step()).toMatchObject({ scheduled: ['a'], firstTokens: ['a'], endUs: 207 });
    expect(engine.step()).toMatchObject({ finished: ['a'], endUs: 414 });
  });
});

describe('a full pipeline', () => {
  const stages = fc.array(fc.integer({ min: 20, max: 500 }), { minLength: 2, maxLength: 5 });

  it('completes a batch per duration of the slowest stage', () => {
    const ends = endsOf([100, 300, 50], 60);
    const gaps = ends.slice(1).map((endUs, i) => endUs - ends[i]!);
    expect(new Set(gaps.slice(3, -3))).toEqual(new Set([300]));
  });

  it('advances each batch when it reaches a stage that the batch before has left', () => {
    fc.assert(
      fc.property(stages, (stagesUs) => {
        const ends = endsOf(stagesUs, 60);
        expect(ends).toEqual(tandemEnds(stagesUs, ends.length));
      }),
      { numRuns: runsOf(40) },
    );
  });

  /** Ends of all steps with one request per stage, each in its own batch. */
  function endsOf(stagesUs: readonly number[], outputTokens: number): number[] {
    const engine = testEngine(stagesUs, { maxNumBatchedTokens: 8, numBlocks: 1000 });
    stagesUs.forEach((_, i) => engine.submit(`${i}`, { promptTokens: 8, outputTokens }));
    return engine.runToRest().map(({ endUs }) => endUs);
  }
});

describe('a pipeline', () => {
  it('ends every request with all of its tokens, in steps that go forward in time', () => {
    fc.assert(
      fc.property(worldOf(), ({ stages, requests, ...options }) =>
        followToRest(testEngine(stages, options), requests),
      ),
      { numRuns: runsOf(150) },
    );
  });
});
