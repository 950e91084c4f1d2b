import { type Alarm, LiveClock } from '@baton/clock';
import type { EngineFact, EngineFactKind, EngineFacts, RunFacts } from '@baton/contract';
import type { SequenceHandle, StepFacts } from '@baton/engine';
import type { Micros } from '@baton/kernel';
import { channels } from '@baton/transport';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { EngineIdentity } from '../engine/engine-identity';
import { EngineSlot } from '../engine/engine-slot';
import { type Run, RunTable } from '../runs/run';
import { Bus } from '../tokens';

/** Wall µs that facts wait to be sent together with others. */
const BATCHING_US = 100_000;
/** Limit of separate chunks per run; further ones extend the last one. */
const MAX_CHUNKS = 64;
/** Limit of unsent facts; further ones are dropped. */
const MAX_WAITING = 20_000;

/** The instant on the engine's own timeline. */
export interface FactTimes {
  readonly atUs: Micros;
  readonly endUs?: Micros;
  readonly tokens?: number;
}

interface Prompt {
  readonly run: Run;
  computed: number;
  chunks: number;
  waiting: { startUs: Micros; endUs: Micros; tokens: number } | undefined;
}

/**
 * Collects facts of requests that an API process cannot see (chunks, reservations, transfers,
 * preemptions, releases) and publishes them ten times a second. It costs a few small objects per
 * request and nothing per token: a step only reads prompts in computation.
 */
@Injectable()
export class TimelineFacts implements BeforeApplicationShutdown {
  private isOn = true;
  private readonly prompts = new Map<SequenceHandle, Prompt>();
  /** Unsent facts, by API process, then by run. */
  private waiting = new Map<string, Map<Run, EngineFact[]>>();
  private count = 0;
  private alarm: Alarm | undefined;

  constructor(
    private readonly identity: EngineIdentity,
    private readonly slot: EngineSlot,
    private readonly runs: RunTable,
    private readonly clock: LiveClock,
    private readonly bus: Bus,
  ) {}

  note(run: Run, kind: EngineFactKind, { atUs, endUs, tokens = 0 }: FactTimes): void {
    if (!this.isOn || this.count >= MAX_WAITING) return;
    const { clock } = this;
    const fact = [kind, clock.toWallUs(atUs), endUs === undefined ? 0 : clock.toWallUs(endUs)];
    this.openFacts(run).push([...fact, tokens] as unknown as EngineFact);
    this.count += 1;
    this.arm();
  }

  /** A step has ended: notes chunks of prompts, and preempted runs. */
  step(facts: StepFacts): void {
    if (!this.isOn) return;
    for (const handle of facts.scheduled) this.begin(handle);
    for (const handle of facts.preempted) this.preempted(handle, facts.startUs);
    if (this.prompts.size === 0) return;
    for (const [handle, prompt] of this.prompts) this.advance(handle, prompt, facts);
  }

  /** Publishes the remaining facts and collects no further ones. */
  beforeApplicationShutdown(): void {
    this.isOn = false;
    this.alarm?.cancel();
    this.flush();
  }

  private begin(handle: SequenceHandle): void {
    const { runs, slot } = this;
    const run = runs.at(handle);
    if (run === undefined || run.stage === 'decode') return;
    const computed = slot.engine.cachedTokens(handle);
    this.prompts.set(handle, { run, computed, chunks: 0, waiting: undefined });
  }

  private preempted(handle: SequenceHandle, atUs: Micros): void {
    const run = this.runs.at(handle);
    if (run === undefined) return;
    const prompt = this.prompts.get(handle);
    if (prompt) prompt.computed = 0;
    this.note(run, 'preempted', { atUs });
  }

  private advance(handle: SequenceHandle, prompt: Prompt, { startUs, endUs }: StepFacts): void {
    const { run } = prompt;
    // After the end of the run, the handle is free or names another run.
    if (run.handle !== handle) {
      this.endPrompt(handle, prompt);
      return;
    }
    const computed = Math.min(this.slot.engine.computedTokens(handle), run.job.promptTokens);
    const tokens = computed - prompt.computed;
    if (tokens > 0) {
      prompt.computed = computed;
      this.chunk(prompt, { startUs, endUs, tokens });
    }
    if (computed >= run.job.promptTokens) this.endPrompt(handle, prompt);
  }

  private chunk(prompt: Prompt, chunk: { startUs: Micros; endUs: Micros; tokens: number }): void {
    const { waiting } = prompt;
    if (waiting && prompt.chunks >= MAX_CHUNKS) {
      waiting.endUs = chunk.endUs;
      waiting.tokens += chunk.tokens;
      return;
    }
    this.addChunk(prompt);
    prompt.waiting = chunk;
    prompt.chunks += 1;
  }

  private endPrompt(handle: SequenceHandle, prompt: Prompt): void {
    this.addChunk(prompt);
    this.prompts.delete(handle);
  }

  private addChunk({ run, waiting }: Prompt): void {
    if (waiting === undefined) return;
    const { startUs: atUs, endUs, tokens } = waiting;
    this.note(run, 'chunk', { atUs, endUs, tokens });
  }

  private openFacts(run: Run): EngineFact[] {
    const { apiId } = run.job;
    const ofApi = this.waiting.get(apiId) ?? new Map<Run, EngineFact[]>();
    this.waiting.set(apiId, ofApi);
    const facts = ofApi.get(run) ?? [];
    ofApi.set(run, facts);
    return facts;
  }

  private arm(): void {
    if (this.alarm !== undefined) return;
    const { wall } = this.clock;
    this.alarm = wall.around(wall.nowUs() + BATCHING_US, () => {
      this.alarm = undefined;
      this.flush();
    });
  }

  private flush(): void {
    const { identity, bus } = this;
    const { engineId, role } = identity;
    for (const [apiId, byRun] of this.waiting) {
      const runs: RunFacts[] = [];
      for (const [{ job, epoch }, facts] of byRun) {
        runs.push({ requestId: job.requestId, epoch, facts });
      }
      const message: EngineFacts = { engineId, stage: role, runs };
      bus.publish(channels.timelines(apiId), Buffer.from(JSON.stringify(message)));
    }
    this.waiting = new Map();
    this.count = 0;
  }
}
