import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/support/runs';
import type { BatchAggregates, PipelineTimes, StepTimeModel } from '@baton/step-time';
import { specOf, TestEngine, type StepSeen } from '../test/test-engine';

const HOP_US = 7;

/** Stages of these many µs each, plus 10 µs per prompt token, with hops of 7 µs between them. */
function pipelineOf(...stagesUs: readonly number[]): StepTimeModel {
  const fill: PipelineTimes['fill'] = (batch: BatchAggregates, us) => {
    stagesUs.forEach((stageUs, i) => {
      us[2 * i] = stageUs + 10 * batch.prefillTokens;
      if (i + 1 < stagesUs.length) us[2 * i + 1] = HOP_US;
    });
  };
  const alone = new Float64Array(2 * stagesUs.length - 1);
  return {
    description: 'pipeline',
    stepUs: (batch) => {
      fill(batch, alone);
      return alone.reduce((sum, us) => sum + us, 0);
    },
    pipeline: { stages: stagesUs.length, fill },
  };
}

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
    // Each batch was formed when its sequences had got their previous token.
    expect(told.map(({ formedUs }) => formedUs)).toEqual([0, 0, 367, 547, 647, 754]);
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

  it('refuses to hand KV over', () => {
    const { engine } = testEngine([100, 100]);
    expect(() => engine.submit(specOf('a', { mode: 'prefill-and-hold' }))).toThrow('takes KV');
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

  /**
   * Tandem queues: a batch enters when the last one to leave has made room. The first batch of each
   * request has its prompt of 8 tokens.
   */
  function tandemEnds(stagesUs: readonly number[], batches: number): number[] {
    const freeUs = stagesUs.map(() => 0);
    const ends: number[] = [];
    for (let batch = 0; batch < batches; batch += 1) {
      let atUs = ends[batch - stagesUs.length] ?? 0;
      const promptUs = batch < stagesUs.length ? 80 : 0;
      for (const [stage, us] of stagesUs.entries()) {
        const hopUs = stage === 0 ? 0 : HOP_US;
        atUs = Math.max(atUs + hopUs, freeUs[stage]!) + us + promptUs;
        freeUs[stage] = atUs;
      }
      ends.push(atUs);
    }
    return ends;
  }
});

describe('a pipeline', () => {
  const request = fc.record({
    promptTokens: fc.integer({ min: 1, max: 40 }),
    outputTokens: fc.integer({ min: 1, max: 30 }),
    afterSteps: fc.integer({ min: 0, max: 12 }),
    isAborted: fc.boolean(),
    shared: fc.integer({ min: 0, max: 3 }),
  });
  const world = fc.record({
    stages: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 2, maxLength: 4 }),
    requests: fc.array(request, { minLength: 1, maxLength: 12 }),
    numBlocks: fc.integer({ min: 20, max: 40 }),
    maxNumBatchedTokens: fc.integer({ min: 8, max: 32 }),
    longPrefillTokenThreshold: fc.constantFrom(0, 5),
    schedulingPolicy: fc.constantFrom('fcfs' as const, 'priority' as const),
  });

  it('ends every request with all of its tokens, in steps that go forward in time', () => {
    fc.assert(
      fc.property(world, ({ stages, requests, ...options }) => {
        const engine = testEngine(stages, options);
        const tokens = new Map<string, number>();
        const ended = new Set<string>();
        let lastUs = 0;
        const follow = (told: StepSeen | undefined): void => {
          if (told === undefined) return;
          expect(told.endUs).toBeGreaterThan(lastUs);
          lastUs = told.endUs;
          expect(new Set(told.emitted).size).toBe(told.emitted.length);
          told.finished.forEach((name) => ended.add(name));
          for (const name of told.emitted) tokens.set(name, (tokens.get(name) ?? 0) + 1);
        };
        for (let step = 0; step <= 12; step++) {
          requests.forEach(({ shared, ...spec }, i) => {
            if (spec.afterSteps !== step) return;
            const blockHashes = Array.from({ length: shared }, (_, block) => block + 1);
            engine.submit(`${i}`, { ...spec, blockHashes, priority: i % 3 });
          });
          requests.forEach(({ isAborted, afterSteps }, i) => {
            const isDue = isAborted && afterSteps + 2 === step && !ended.has(`${i}`);
            if (isDue) engine.engine.abort(engine.handle(`${i}`));
          });
          follow(engine.step());
        }
        for (let told = engine.step(); told !== undefined; told = engine.step()) follow(told);
        requests.forEach(({ isAborted, outputTokens }, i) => {
          if (!isAborted) expect(tokens.get(`${i}`)).toBe(outputTokens);
        });
        expect(engine.engine.snapshot()).toMatchObject({ running: 0, waiting: 0, kvUsage: 0 });
      }),
      { numRuns: runsOf(150) },
    );
  });
});
