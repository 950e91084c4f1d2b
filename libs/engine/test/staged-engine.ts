import fc from 'fast-check';
import type { BatchAggregates, PipelineTimes, StepTimeModel } from '@baton/step-time';
import { expect } from 'vitest';
import type { StepSeen, TestEngine } from './test-engine';

export const HOP_US = 7;

/** Stages of these many µs each, plus 10 µs per prompt token, with hops of 7 µs between them. */
export function pipelineOf(...stagesUs: readonly number[]): StepTimeModel {
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

/**
 * Tandem queues: a batch enters when the last one to leave has made room. The first batch of each
 * request has its prompt of 8 tokens.
 */
export function tandemEnds(stagesUs: readonly number[], batches: number): number[] {
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

const request = fc.record({
  promptTokens: fc.integer({ min: 1, max: 40 }),
  outputTokens: fc.integer({ min: 1, max: 30 }),
  afterSteps: fc.integer({ min: 0, max: 12 }),
  isAborted: fc.boolean(),
  shared: fc.integer({ min: 0, max: 3 }),
});
/** Stages, requests and scarce blocks of an engine. */
export const worldOf = () =>
  fc.record({
    stages: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 2, maxLength: 4 }),
    requests: fc.array(request, { minLength: 1, maxLength: 12 }),
    numBlocks: fc.integer({ min: 20, max: 40 }),
    maxNumBatchedTokens: fc.integer({ min: 8, max: 32 }),
    longPrefillTokenThreshold: fc.constantFrom(0, 5),
    schedulingPolicy: fc.constantFrom('fcfs' as const, 'priority' as const),
  });

interface TestRequest {
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly afterSteps: number;
  readonly isAborted: boolean;
  readonly shared: number;
}

/** Runs the requests, and aborts some, until nothing is left; checks every step. */
export function followToRest(engine: TestEngine, requests: readonly TestRequest[]): void {
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
}
