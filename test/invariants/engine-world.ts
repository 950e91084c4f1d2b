import { Engine, type SequenceHandle, type StepFacts } from '@baton/engine';
import { assert, mix, type Micros } from '@baton/kernel';
import { remoteTokens, specOf, type Scenario } from './engine-scenario';

/**
 * How far steps follow each other by themselves: never; as far as possible; up to arbitrary
 * instants; or as far as possible, except after a step with first tokens.
 */
export type Pace = 'single' | 'leap' | 'short-leap' | 'calm-leap';

interface Happening {
  readonly atUs: Micros;
  readonly order: number;
  /** Undefined: a look, which changes nothing. */
  readonly act: (() => void) | undefined;
}

/** The ends of the first, second and last of some steps, and their tokens. */
export interface StepsTold {
  readonly firstUs: Micros;
  readonly secondUs: Micros | undefined;
  readonly lastUs: Micros;
  readonly steps: number;
  /** Tokens of the first of them, and of each of the others. */
  readonly tokens: number;
  readonly laterTokens: number | undefined;
}

/** All events that are visible from outside, in order, and the state at arbitrary instants. */
export interface Story {
  readonly log: string[];
  /** By visit. */
  readonly scheduledUs: Record<number, Micros>;
  readonly firstTokensUs: Record<number, Micros>;
}

const STEPS_MAX = 100_000;
const LOOKS = 12;
/** Most of a scenario lies before this instant. */
const LOOKS_UNTIL_US = 30_000;

/**
 * Drives one engine through a scenario to rest, and looks at it at arbitrary instants. At the same
 * instant, outside events and looks precede the end of a step. It checks that each token comes once
 * and in order, that time moves and that some sequence always progresses, and runs the engine's own
 * audit.
 */
export class EngineWorld {
  readonly story: Story = { log: [], firstTokensUs: {}, scheduledUs: {} };
  /** Ends of steps as the facts tell them. */
  readonly told: StepsTold[] = [];
  readonly engine: Engine;
  private readonly happenings: Happening[] = [];
  private readonly idOf = new Map<SequenceHandle, number>();
  /** Includes ended sequences, until another one gets their handle. */
  private readonly lastIdOf = new Map<SequenceHandle, number>();
  private readonly tokens = new Map<number, number>();
  private readonly ends = new Map<number, string>();
  private nowUs: Micros = 0;
  /** Start of the step under way. */
  private startUs: Micros = 0;
  private endUs: Micros | undefined;
  private planned = 0;
  private generated = 0;

  constructor(
    private readonly scenario: Scenario,
    private readonly pace: Pace,
  ) {
    this.engine = new Engine(scenario.options);
    let atUs = 0;
    scenario.visits.forEach((visit, id) => {
      atUs += visit.gapUs;
      this.plan(atUs, () => this.arrive(id));
    });
    for (let i = 0; i < LOOKS; i++) this.plan(mix(i, 11) % LOOKS_UNTIL_US, undefined);
  }

  run(): Story {
    for (let i = 0; i < STEPS_MAX; i++) {
      const next = this.happenings[0];
      if (next !== undefined && next.atUs <= (this.endUs ?? Infinity)) this.happen(next);
      else if (this.endUs !== undefined) this.endStep(this.endUs);
      else return this.rest();
      this.engine.audit();
      if (this.endUs === undefined) this.beginStep();
    }
    throw new Error('the engine comes to rest in bounded time');
  }

  private plan(atUs: Micros, act: Happening['act']): void {
    const happening = { atUs, order: this.planned++, act };
    const later = this.happenings.findIndex((other) => other.atUs > atUs);
    if (later < 0) this.happenings.push(happening);
    else this.happenings.splice(later, 0, happening);
  }

  private happen({ atUs, act }: Happening): void {
    this.happenings.shift();
    this.nowUs = atUs;
    const { engine } = this;
    engine.advanceTo(atUs);
    this.note('state', {
      cache: engine.cacheState(),
      snapshot: engine.snapshot(),
      counters: engine.counters,
      tokens: [...this.idOf].map(([handle, id]) => [id, engine.tokensEmitted(handle)]),
    });
    if (act === undefined) return;
    if (this.endUs !== undefined) this.endUs = engine.nextUs(atUs);
    act();
  }

  private beginStep(): void {
    this.startUs = this.nowUs;
    this.endUs = this.engine.beginStep(this.nowUs);
    this.reserve();
    if (this.endUs === undefined) return;
    assert(this.endUs > this.nowUs, 'a step takes time');
    const isCalm = this.pace === 'calm-leap' && this.engine.bringsFirstTokens;
    if (this.pace !== 'single' && !isCalm) this.endUs = this.engine.nextUs(this.horizonUs());
  }

  private horizonUs(): Micros {
    if (this.pace !== 'short-leap') return Infinity;
    return this.nowUs + (mix(this.nowUs, 7) % 4_000);
  }

  private endStep(endUs: Micros): void {
    this.engine.advanceTo(endUs);
    const facts = this.engine.endStep();
    assert(facts.endUs === endUs && facts.startUs === this.startUs, 'facts and plan differ');
    this.tell(facts);
    this.nowUs = endUs;
    this.endUs = undefined;
    this.endSequences(facts);
  }

  private tell({ firstEndUs, endUs, later }: StepFacts): void {
    const { steps, firstUs, spanUs, tokens } = later;
    const { generatedTokens } = this.engine.counters;
    const fresh = generatedTokens - this.generated;
    this.generated = generatedTokens;
    assert(firstEndUs + spanUs === endUs, 'the first step and those behind it are all');
    this.told.push({
      firstUs: firstEndUs,
      secondUs: steps === 0 ? undefined : firstEndUs + firstUs,
      lastUs: endUs,
      steps: 1 + steps,
      tokens: fresh - steps * tokens,
      laterTokens: steps === 0 ? undefined : tokens,
    });
  }

  private endSequences(facts: StepFacts): void {
    const ids = (handles: readonly SequenceHandle[]) => handles.map((h) => this.idOf.get(h));
    const { scheduled, firstTokens, held, finished, preempted, rejected } = facts;
    for (const handle of scheduled)
      this.story.scheduledUs[this.lastIdOf.get(handle)!] = facts.startUs;
    const lists = [held, finished, preempted, rejected].map(ids);
    if (lists.some((list) => list.length > 0)) this.note('step', lists);
    for (const handle of facts.emitted) this.countTokens(handle);
    const { firstEndUs, later } = facts;
    for (const handle of firstTokens) this.countFirst(handle, firstEndUs);
    for (const handle of later.firstTokens) this.countFirst(handle, firstEndUs + later.firstUs);
    for (const handle of finished) this.finish(handle, preempted.includes(handle));
    for (const handle of held) this.hold(handle);
    for (const handle of rejected) this.reject(handle);
  }

  private countFirst(handle: SequenceHandle, atUs: Micros): void {
    const id = this.lastIdOf.get(handle)!;
    assert(this.story.firstTokensUs[id] === undefined, 'a sequence has one first token');
    this.story.firstTokensUs[id] = atUs;
    const given = this.tokensOf(handle);
    const isFirst = given === undefined || given === this.engine.tokensInStep(handle);
    assert(isFirst, 'no token precedes the first');
  }

  private reject(handle: SequenceHandle): void {
    const id = this.idOf.get(handle);
    if (id === undefined) return;
    const { cacheHitThreshold, mode } = this.scenario.visits[id]!;
    const threshold = cacheHitThreshold ?? this.scenario.options.globalCacheHitThreshold ?? 0;
    assert(threshold > 0 && mode !== 'prefill-and-hold', 'a rejection has a cause');
    assert(this.engine.blockIds(handle).length === 0, 'a rejected sequence has blocks');
    this.end(handle, 'rejected');
  }

  private arrive(id: number): void {
    const admission = this.engine.submit(specOf(this.scenario, id, this.nowUs));
    this.note('submit', [id, admission.kind]);
    if (admission.kind === 'refused') {
      this.ends.set(id, admission.why);
      return;
    }
    const { handle } = admission;
    assert(!this.idOf.has(handle), 'two sequences in use share a handle');
    this.idOf.set(handle, id);
    this.lastIdOf.set(handle, id);
    const { abortAfterUs } = this.scenario.visits[id]!;
    if (abortAfterUs !== undefined) this.plan(this.nowUs + abortAfterUs, () => this.abort(id));
  }

  private abort(id: number): void {
    const handle = this.handleOf(id);
    if (handle === undefined) return;
    this.engine.abort(handle);
    this.engine.abort(handle);
    this.end(handle, 'aborted');
  }

  private reserve(): void {
    for (let r = this.engine.reserveNext(); r !== undefined; r = this.engine.reserveNext()) {
      const id = this.idOf.get(r.handle)!;
      const visit = this.scenario.visits[id]!;
      const { transferUs, isTransferLost } = visit;
      const missing = Math.max(0, remoteTokens(visit) - r.cachedTokens);
      assert(r.missingTokens === missing, 'each remote block is cached or missing');
      this.note('reserve', [id, r.missingTokens]);
      this.plan(this.nowUs + transferUs, () => this.endTransfer(id, isTransferLost));
    }
  }

  private endTransfer(id: number, isLost: boolean): void {
    const handle = this.handleOf(id);
    if (handle === undefined) return;
    if (isLost) this.engine.kvFailed(handle);
    else this.engine.kvArrived(handle);
  }

  private hold(handle: SequenceHandle): void {
    const id = this.idOf.get(handle)!;
    const { promptTokens, transferUs } = this.scenario.visits[id]!;
    const blocks = Math.ceil(promptTokens / this.scenario.options.blockSize);
    assert(this.engine.blockIds(handle).length === blocks, 'a held prompt has its blocks');
    this.release(handle, this.nowUs + transferUs, 'released');
  }

  private release(handle: SequenceHandle, atUs: Micros, how: string): void {
    const id = this.idOf.get(handle)!;
    this.plan(atUs, () => {
      if (this.handleOf(id) === undefined) return;
      this.engine.releaseHeld(handle);
      this.end(handle, how);
    });
  }

  private countTokens(handle: SequenceHandle): void {
    const got = this.engine.tokensInStep(handle);
    const tokens = (this.tokens.get(this.idOf.get(handle)!) ?? 0) + got;
    assert(got >= 1, 'the facts disagree about a sequence with tokens');
    this.tokens.set(this.idOf.get(handle)!, tokens);
    assert(this.engine.tokensEmitted(handle) === tokens, 'a token is missing or repeated');
    assert(this.engine.tokenIndex(handle) === tokens - 1, 'a token has the wrong index');
  }

  /** @param mayLackBlocks  it may have been preempted while its last token was on the way */
  private finish(handle: SequenceHandle, mayLackBlocks: boolean): void {
    const visit = this.scenario.visits[this.idOf.get(handle)!]!;
    const { promptTokens, outputTokens, transferUs, holdsAtEnd } = visit;
    assert(this.tokensOf(handle) === outputTokens, 'a sequence ended too early or too late');
    const how = `finished, cached ${this.engine.cachedTokens(handle)}`;
    if (!holdsAtEnd) return this.end(handle, how);
    const blocks = Math.ceil((promptTokens + outputTokens - 1) / this.scenario.options.blockSize);
    const held = this.engine.blockIds(handle).length;
    const hasBlocks = held >= blocks || (mayLackBlocks && held === 0);
    assert(hasBlocks, 'a held end has its blocks');
    this.release(handle, this.nowUs + transferUs, how);
  }

  private end(handle: SequenceHandle, how: string): void {
    const id = this.idOf.get(handle)!;
    this.ends.set(id, how);
    this.idOf.delete(handle);
    this.note('end', [id, how]);
  }

  private rest(): Story {
    const { engine, scenario } = this;
    assert(this.ends.size === scenario.visits.length, `wedged: ${[...this.idOf.values()].join()}`);
    assert(!engine.hasWork(), 'an engine at rest reports work');
    const { freeBlocks, running, waiting, deferred, waitingTokens, heldBlocks } = engine.snapshot();
    assert(freeBlocks === scenario.options.numBlocks, 'blocks are in use at rest');
    const left = running + waiting + deferred + waitingTokens + heldBlocks;
    assert(left === 0, 'a counter is not zero at rest');
    this.note('rest', { counters: engine.counters, cache: engine.cacheState() });
    return this.story;
  }

  private note(what: string, detail: unknown): void {
    this.story.log.push(`${this.nowUs} ${what} ${JSON.stringify(detail)}`);
  }

  private tokensOf(handle: SequenceHandle): number | undefined {
    return this.tokens.get(this.idOf.get(handle)!);
  }

  private handleOf(id: number): SequenceHandle | undefined {
    for (const [handle, other] of this.idOf) if (other === id) return handle;
    return undefined;
  }
}
