import type { BatchAggregates, StepTimeModel } from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { Engine } from './engine';
import type { EngineOptions, SequenceHandle, SequenceSpec } from './types';

/** 1 ms a step and 10 µs a prompt token. */
const MODEL: StepTimeModel = {
  description: 'plain',
  stepUs: (batch: BatchAggregates) => 1000 + 10 * batch.prefillTokens,
  decodeLaw: () => ({ baseUs: 1000, perContextUs: 0, contextLimit: Infinity }),
};

function engineWith(options: Partial<EngineOptions> = {}): Engine {
  return new Engine({
    maxNumSeqs: 8,
    maxNumBatchedTokens: 64,
    blockSize: 4,
    numBlocks: 100,
    maxModelLen: 400,
    longPrefillTokenThreshold: 0,
    enablePrefixCaching: true,
    enableChunkedPrefill: true,
    schedulingPolicy: 'fcfs',
    stepTime: MODEL,
    seed: 1,
    warmupPenaltyPercent: 0,
    warmupSteps: 0,
    ...options,
  });
}

function submit(engine: Engine, spec: Partial<SequenceSpec> = {}): SequenceHandle {
  const admission = engine.submit(specOf(spec));
  if (admission.kind === 'refused') throw new Error(admission.why);
  return admission.handle;
}

function specOf(spec: Partial<SequenceSpec>): SequenceSpec {
  return {
    requestId: 'r',
    promptTokens: 8,
    outputTokens: 4,
    endReason: 'stop',
    blockHashes: [],
    priority: 0,
    arrivalUs: 0,
    mode: 'generate',
    ...spec,
  };
}

interface Step {
  readonly tookUs: number;
  readonly emitted: SequenceHandle[];
  readonly finished: SequenceHandle[];
  readonly held: SequenceHandle[];
  readonly preempted: SequenceHandle[];
}

function step(engine: Engine): Step | undefined {
  const endUs = engine.beginStep(0);
  if (endUs === undefined) return undefined;
  const facts = engine.endStep();
  engine.audit();
  return {
    tookUs: endUs,
    emitted: [...facts.emitted],
    finished: [...facts.finished],
    held: [...facts.held],
    preempted: [...facts.preempted],
  };
}

function stepsToRest(engine: Engine): Step[] {
  const steps: Step[] = [];
  for (let next = step(engine); next !== undefined; next = step(engine)) steps.push(next);
  return steps;
}

describe('the engine', () => {
  it('cuts a prompt into chunks of the token budget and decodes beside it', () => {
    const engine = engineWith({ maxNumBatchedTokens: 16 });
    const short = submit(engine, { promptTokens: 4, outputTokens: 10 });
    const long = submit(engine, { promptTokens: 40, outputTokens: 1 });
    const steps = stepsToRest(engine);
    expect(steps[0]?.tookUs).toBe(1000 + 10 * 16);
    expect(steps[1]?.tookUs).toBe(1000 + 10 * 15);
    expect(steps.findIndex((each) => each.emitted.includes(long))).toBe(2);
    expect(steps.filter((each) => each.emitted.includes(short))).toHaveLength(10);
  });

  it('gives one long prompt no more than long_prefill_token_threshold tokens in a step', () => {
    const engine = engineWith({ longPrefillTokenThreshold: 10 });
    submit(engine, { promptTokens: 25, outputTokens: 1 });
    const tookUs = stepsToRest(engine).map((each) => each.tookUs);
    expect(tookUs).toEqual([1100, 1100, 1050]);
  });

  it('computes a prompt in one step when chunked prefill is off', () => {
    const engine = engineWith({ enableChunkedPrefill: false, maxNumBatchedTokens: 16 });
    submit(engine, { promptTokens: 12, outputTokens: 1 });
    submit(engine, { promptTokens: 12, outputTokens: 1 });
    expect(stepsToRest(engine).map((each) => each.tookUs)).toEqual([1120, 1120]);
  });

  it('ends a sequence with its last token and frees slot and blocks for the next batch', () => {
    const engine = engineWith({ maxNumSeqs: 1 });
    const first = submit(engine, { outputTokens: 2 });
    const second = submit(engine, { outputTokens: 1 });
    const steps = stepsToRest(engine);
    expect(steps.map((each) => each.finished)).toEqual([[], [first], [second]]);
    expect(engine.snapshot()).toMatchObject({ running: 0, kvUsage: 0, freeBlocks: 100 });
  });

  it('finds a cached prefix, shares its blocks, and still computes the last token', () => {
    const engine = engineWith();
    const blockHashes = [11, 12, 13];
    submit(engine, { promptTokens: 12, blockHashes, outputTokens: 1 });
    stepsToRest(engine);
    const again = submit(engine, { promptTokens: 12, blockHashes, outputTokens: 1 });
    expect(step(engine)?.tookUs).toBe(1000 + 10 * 4);
    expect(engine.cachedTokens(again)).toBe(8);
    expect(engine.counters).toMatchObject({ promptTokensCached: 8, promptTokensComputed: 16 });
  });

  it('finds generated tokens again when the next turn brings them as its prompt', () => {
    const engine = engineWith();
    const blockHashes = [21, 22, 23, 24];
    submit(engine, { promptTokens: 8, blockHashes, outputTokens: 9 });
    stepsToRest(engine);
    const nextTurn = submit(engine, { promptTokens: 20, blockHashes, outputTokens: 1 });
    step(engine);
    expect(engine.cachedTokens(nextTurn)).toBe(16);
  });

  it('preempts the newest when blocks run out, computes it again, and repeats no token', () => {
    const engine = engineWith({ numBlocks: 8 });
    const old = submit(engine, { promptTokens: 8, outputTokens: 16 });
    const young = submit(engine, { promptTokens: 8, outputTokens: 16 });
    const steps = stepsToRest(engine);
    expect(steps.flatMap((each) => each.preempted)).toContain(young);
    expect(steps.flatMap((each) => each.preempted)).not.toContain(old);
    for (const handle of [old, young]) {
      expect(steps.filter((each) => each.emitted.includes(handle))).toHaveLength(16);
    }
  });

  it('runs a lower priority number first and preempts the highest', () => {
    const engine = engineWith({ schedulingPolicy: 'priority', maxNumSeqs: 1 });
    const late = submit(engine, { priority: 5, outputTokens: 1 });
    const urgent = submit(engine, { priority: -1, outputTokens: 1 });
    expect(stepsToRest(engine).map((each) => each.finished)).toEqual([[urgent], [late]]);
  });

  it.each([
    [{ promptTokens: 300, outputTokens: 101 }, 'exceeds-context'],
    [{ promptTokens: 390, outputTokens: 10 }, 'exceeds-kv-capacity'],
  ])('refuses %j, which can never run', (spec, why) => {
    expect(engineWith({ numBlocks: 99 }).submit(specOf(spec))).toEqual({ kind: 'refused', why });
  });

  it('holds a prompt until it is released', () => {
    const engine = engineWith();
    const handle = submit(engine, { mode: 'prefill-and-hold', promptTokens: 9 });
    expect(step(engine)).toMatchObject({ held: [handle], emitted: [] });
    expect(engine.blockIds(handle)).toHaveLength(3);
    expect(engine.snapshot()).toMatchObject({ running: 0, heldBlocks: 3 });
    engine.releaseHeld(handle);
    expect(engine.snapshot()).toMatchObject({ heldBlocks: 0, kvUsage: 0 });
  });

  it('asks a transfer only for what its cache lacks, and computes the last prompt token', () => {
    const engine = engineWith();
    submit(engine, { promptTokens: 8, blockHashes: [31, 32], outputTokens: 1 });
    stepsToRest(engine);
    const handle = submit(engine, {
      mode: 'remote-prefill',
      promptTokens: 12,
      blockHashes: [31, 32, 33],
      outputTokens: 2,
    });
    expect(engine.reserveNext()).toEqual({ handle, missingTokens: 4, cachedTokens: 8 });
    expect(step(engine)).toBeUndefined();
    engine.kvArrived(handle);
    expect(step(engine)).toMatchObject({ emitted: [handle], tookUs: 1000 });
    expect(engine.counters.promptTokensTransferred).toBe(4);
  });

  it('computes a prompt itself when its KV does not come', () => {
    const engine = engineWith();
    const handle = submit(engine, { mode: 'remote-prefill', promptTokens: 12, outputTokens: 1 });
    engine.reserveNext();
    engine.kvFailed(handle);
    expect(step(engine)).toMatchObject({ finished: [handle], tookUs: 1120 });
    expect(engine.counters).toMatchObject({ promptTokensTransferred: 0, promptTokensComputed: 12 });
  });

  it('reserves nothing while there is no room, and does when there is', () => {
    const engine = engineWith({ numBlocks: 4 });
    const holder = submit(engine, { mode: 'prefill-and-hold', promptTokens: 12 });
    step(engine);
    const waiting = submit(engine, { mode: 'remote-prefill', promptTokens: 8, outputTokens: 1 });
    expect(engine.reserveNext()).toBeUndefined();
    engine.releaseHeld(holder);
    expect(engine.reserveNext()?.handle).toBe(waiting);
  });

  it('drops the token of a sequence that is aborted in the middle of a step', () => {
    const engine = engineWith();
    const gone = submit(engine, { outputTokens: 9 });
    const stays = submit(engine, { outputTokens: 9 });
    step(engine);
    engine.beginStep(5000);
    engine.abort(gone);
    expect(engine.endStep().emitted).toEqual([stays]);
    engine.audit();
    expect(engine.snapshot().running).toBe(1);
  });

  it('makes its first steps longer while it warms up', () => {
    const engine = engineWith({ warmupPenaltyPercent: 100, warmupSteps: 2 });
    submit(engine, { promptTokens: 8, outputTokens: 3 });
    expect(stepsToRest(engine).map((each) => each.tookUs)).toEqual([2160, 2000, 1000]);
  });

  it('lays the steps of one batch end to end from one anchor, whatever each rounds to', () => {
    const thirds = { ...MODEL, stepUs: () => 1000 / 3, decodeLaw: () => third };
    const third = { baseUs: 1000 / 3, perContextUs: 0, contextLimit: Infinity };
    const engine = engineWith({ stepTime: thirds, maxModelLen: 5000, numBlocks: 2000 });
    submit(engine, { outputTokens: 3001 });
    let nowUs = engine.beginStep(0) ?? 0;
    engine.endStep();
    const startUs = nowUs;
    for (let i = 0; i < 3000; i += 1) {
      nowUs = engine.beginStep(nowUs) ?? 0;
      engine.endStep();
    }
    expect(nowUs - startUs).toBe(1_000_000);
  });

  it('takes a thousand steps at once when nothing else can happen', () => {
    const engine = engineWith({ maxModelLen: 5000, numBlocks: 2000 });
    submit(engine, { outputTokens: 1001 });
    step(engine);
    engine.beginStep(0);
    expect(engine.extendStep(Infinity)).toBe(1_000_000);
    expect(engine.endStep()).toMatchObject({ steps: 1000, finished: [0] });
  });
});
