import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Engine, type EngineOptions, type SequenceSpec } from '@baton/engine';
import type { BatchAggregates, StepTimeModel } from '@baton/hardware';
import { assert, mix } from '@baton/kernel';

/** Every sum of the batch moves the time, so that a wrong sum shows. */
const MODEL: StepTimeModel = {
  description: 'a line over every sum',
  stepUs: (b: BatchAggregates) =>
    100.3 +
    7.7 * b.decodeSeqs +
    0.31 * b.decodeContext +
    1.9 * b.prefillTokens +
    0.001 * b.prefillQuadratic,
  decodeLaw: (seqs: number) => ({
    baseUs: 100.3 + 7.7 * seqs,
    perContextUs: 0.31,
    contextLimit: Infinity,
  }),
};

interface Arrival {
  readonly gapUs: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly family: number;
  readonly priority: number;
  readonly mode: SequenceSpec['mode'];
  /** Aborted after this many steps of the engine, if that comes before its end. */
  readonly abortAtStep: number | undefined;
}

interface Scenario {
  readonly options: EngineOptions;
  readonly arrivals: readonly Arrival[];
}

const arrival = fc.record<Arrival>({
  gapUs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 })),
  promptTokens: fc.integer({ min: 1, max: 90 }),
  outputTokens: fc.integer({ min: 1, max: 60 }),
  family: fc.integer({ min: 0, max: 2 }),
  priority: fc.integer({ min: 0, max: 2 }),
  mode: fc.constantFrom('generate', 'generate', 'prefill-and-hold', 'remote-prefill'),
  abortAtStep: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined, freq: 4 }),
});

const scenario = fc
  .record({
    arrivals: fc.array(arrival, { minLength: 1, maxLength: 14 }),
    blockSize: fc.constantFrom(1, 4, 16),
    maxNumSeqs: fc.integer({ min: 1, max: 8 }),
    budget: fc.integer({ min: 8, max: 120 }),
    extraBlocks: fc.integer({ min: 0, max: 40 }),
    longPrefillTokenThreshold: fc.constantFrom(0, 0, 7),
    enablePrefixCaching: fc.boolean(),
    schedulingPolicy: fc.constantFrom('fcfs' as const, 'priority' as const),
  })
  .map(({ arrivals, extraBlocks, budget, ...rest }): Scenario => {
    const largest = Math.max(...arrivals.map((a) => a.promptTokens + a.outputTokens));
    const numBlocks = Math.ceil(largest / rest.blockSize) + extraBlocks;
    const options = {
      ...rest,
      maxNumBatchedTokens: budget,
      numBlocks,
      maxModelLen: 200,
      enableChunkedPrefill: true,
      stepTime: MODEL,
      seed: 1,
      warmupPenaltyPercent: 0,
      warmupSteps: 0,
    };
    return { options, arrivals };
  });

function specOf(a: Arrival, id: number, { blockSize }: EngineOptions): SequenceSpec {
  const blocks = Math.floor((a.promptTokens + a.outputTokens) / blockSize);
  const hashes = Array.from({ length: blocks }, (_none, i) => mix(a.family + 1, i + 1) || 1);
  return {
    requestId: `r${id}`,
    promptTokens: a.promptTokens,
    outputTokens: a.outputTokens,
    endReason: 'stop',
    blockHashes: hashes,
    priority: a.priority,
    arrivalUs: 0,
    mode: a.mode,
  };
}

/** Drives one engine to rest, checking each law on the way, and returns the log of everything that can be seen from outside. */
class Drive {
  readonly log: string[] = [];
  private readonly engine: Engine;
  private readonly idOf = new Map<number, number>();
  private readonly tokens = new Map<number, number>();
  private readonly ended = new Map<number, 'finished' | 'aborted' | 'released'>();
  private nowUs = 0;
  private steps = 0;

  constructor(
    private readonly scenario: Scenario,
    private readonly leaps: boolean,
  ) {
    this.engine = new Engine(scenario.options);
  }

  run(): this {
    const times = this.arrivalTimes();
    let next = 0;
    for (let idle = 0; this.ended.size < times.length;) {
      while (next < times.length && times[next]! <= this.nowUs) this.submit(next++);
      this.serveRemote();
      this.abortDue();
      const moved = this.step(times[next] ?? Infinity);
      if (!moved && next < times.length) this.nowUs = Math.max(this.nowUs, times[next]!);
      idle = moved || next < times.length ? 0 : idle + 1;
      assert(idle < 3, 'an engine with unfinished sequences moves');
    }
    this.checkRest();
    return this;
  }

  private arrivalTimes(): number[] {
    let atUs = 0;
    return this.scenario.arrivals.map((a) => (atUs += a.gapUs));
  }

  private submit(id: number): void {
    const a = this.scenario.arrivals[id]!;
    const admission = this.engine.submit(specOf(a, id, this.scenario.options));
    if (admission.kind !== 'accepted') throw new Error(`refused: ${admission.why}`);
    assert(!this.idOf.has(admission.handle), 'a handle has one owner');
    this.idOf.set(admission.handle, id);
  }

  /** KV arrives at once, except that every third transfer fails. */
  private serveRemote(): void {
    for (let r = this.engine.reserveNext(); r !== undefined; r = this.engine.reserveNext()) {
      const id = this.idOf.get(r.handle)!;
      assert(
        r.missingTokens + r.cachedTokens === this.scenario.arrivals[id]!.promptTokens,
        'missing and cached make the prompt',
      );
      if (id % 3 === 2) this.engine.kvFailed(r.handle);
      else this.engine.kvArrived(r.handle);
      this.log.push(`reserve ${id} ${r.missingTokens}`);
    }
  }

  private abortDue(): void {
    for (const [handle, id] of this.idOf) {
      if (this.scenario.arrivals[id]!.abortAtStep !== this.steps) continue;
      this.engine.abort(handle);
      this.end(handle, 'aborted');
    }
    this.engine.audit();
  }

  private step(untilUs: number): boolean {
    const startUs = this.nowUs;
    let endUs = this.engine.beginStep(startUs);
    if (endUs === undefined) return false;
    if (this.leaps) endUs = this.engine.extendStep(Math.min(untilUs, this.nextAbortHorizon()));
    assert(endUs > startUs, 'a step takes time');
    const facts = this.engine.endStep();
    assert(facts.endUs === endUs, 'a step ends when it said');
    this.nowUs = endUs;
    this.steps += facts.steps;
    for (const handle of facts.preempted) {
      this.log.push(`${startUs} preempt ${this.idOf.get(handle)}`);
    }
    for (const handle of facts.emitted) this.count(handle, facts.steps);
    for (const handle of facts.finished) this.finish(handle, endUs);
    for (const handle of [...facts.held]) this.release(handle, endUs);
    this.engine.audit();
    return true;
  }

  /** Aborts are due at step numbers, so a scenario with aborts is cut into single steps. */
  private nextAbortHorizon(): number {
    const hasAborts = this.scenario.arrivals.some((a) => a.abortAtStep !== undefined);
    return hasAborts ? 0 : Infinity;
  }

  private count(handle: number, steps: number): void {
    const id = this.idOf.get(handle)!;
    const tokens = (this.tokens.get(id) ?? 0) + steps;
    this.tokens.set(id, tokens);
    assert(this.engine.tokensEmitted(handle) === tokens, 'each token is emitted once');
  }

  private finish(handle: number, endUs: number): void {
    const id = this.idOf.get(handle)!;
    const { outputTokens } = this.scenario.arrivals[id]!;
    assert(this.tokens.get(id) === outputTokens, 'a sequence ends with its last token');
    this.log.push(`${endUs} finish ${id} cached ${this.engine.cachedTokens(handle)}`);
    this.end(handle, 'finished');
  }

  private release(handle: number, endUs: number): void {
    const id = this.idOf.get(handle)!;
    this.log.push(`${endUs} held ${id} blocks ${this.engine.blockIds(handle).length}`);
    this.engine.releaseHeld(handle);
    this.end(handle, 'released');
  }

  private end(handle: number, how: 'finished' | 'aborted' | 'released'): void {
    const id = this.idOf.get(handle)!;
    assert(!this.ended.has(id), 'a sequence ends once');
    this.ended.set(id, how);
    this.idOf.delete(handle);
  }

  private checkRest(): void {
    const { counters } = this.engine;
    const snapshot = this.engine.snapshot();
    expect(snapshot).toMatchObject({
      running: 0,
      waiting: 0,
      deferred: 0,
      heldBlocks: 0,
      kvUsage: 0,
    });
    const finished = [...this.ended.values()].filter((how) => how === 'finished').length;
    expect(counters.finished).toBe(finished);
    const hasAborts = [...this.ended.values()].includes('aborted');
    const prompts = this.scenario.arrivals.reduce((sum, a) => sum + a.promptTokens, 0);
    const bySource =
      counters.promptTokensComputed +
      counters.promptTokensCached +
      counters.promptTokensTransferred;
    if (!hasAborts) expect(bySource).toBe(prompts);
    this.log.push(JSON.stringify(counters));
  }
}

describe('the engine over random scenarios', () => {
  it('keeps requests and blocks, emits each token once, and never wedges (INV-1, INV-2, INV-5, INV-7, INV-8, INV-11)', () => {
    fc.assert(
      fc.property(scenario, (s) => {
        new Drive(s, false).run();
      }),
      { numRuns: 1500 },
    );
  });

  it('leaps to the same facts, times and counters as single steps (INV-10)', () => {
    fc.assert(
      fc.property(scenario, (s) => {
        const calm = { ...s, arrivals: s.arrivals.map((a) => ({ ...a, abortAtStep: undefined })) };
        expect(new Drive(calm, true).run().log.join('\n')).toBe(
          new Drive(calm, false).run().log.join('\n'),
        );
      }),
      { numRuns: 1500 },
    );
  });

  it('gives the same log for the same scenario (INV-9)', () => {
    fc.assert(
      fc.property(scenario, (s) => {
        expect(new Drive(s, true).run().log.join('\n')).toBe(
          new Drive(s, true).run().log.join('\n'),
        );
      }),
      { numRuns: 200 },
    );
  });
});
