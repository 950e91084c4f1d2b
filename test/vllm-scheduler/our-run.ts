import { Engine, type EngineOptions, type SequenceHandle } from '@baton/engine';
import { ACCEPTANCE_RATE, type Workload, type WorkloadRequest } from './workload';

const MOST_STEPS = 3000;
const IDLE_STEPS = 60;
const MOST_CONTENTS = 1_000;
const ONE_US: EngineOptions['stepTime'] = { description: 'one', stepUs: () => 1 };

/**
 * Drives libs/engine over a workload as `driver.py` drives vLLM's scheduler, and describes every
 * step in the same words.
 */
export function ourSteps(workload: Workload, rules: VersionRules = {}): string[] {
  return new OurRun(workload, rules).steps();
}

/** What an older version of vLLM does otherwise. */
export type VersionRules = Pick<EngineOptions, 'freesAtOnce'>;

class OurRun {
  private readonly engine: Engine;
  private readonly handles = new Map<number, SequenceHandle>();
  private readonly names = new Map<SequenceHandle, number>();
  private readonly arrivals = new Map<number, number[]>();
  private readonly aborts = new Map<number, number[]>();
  private readonly loads = new Map<number, number[]>();
  private readonly loading = new Set<number>();
  private readonly sends = new Map<number, number[]>();
  private readonly held = new Set<number>();
  private readonly ended = new Set<number>();
  private readonly contents = new Map<string, number>();
  /** With pipeline stages: tokens of each prompt that ended batches computed, until preempted. */
  private readonly computed = new Map<number, number>();

  constructor(
    private readonly workload: Workload,
    rules: VersionRules,
  ) {
    const { connector, stages, ...options } = workload.options;
    this.engine = new Engine({
      ...options,
      ...rules,
      hasConnector: connector,
      // Both tables of the block pool: contents by hash, and by number.
      ...(workload.seed % 2 === 0 ? {} : { contentCount: MOST_CONTENTS }),
      ...speculationOf(workload),
      stepTime: stages === undefined ? ONE_US : { ...ONE_US, pipeline: pipelineOf(stages) },
      seed: workload.seed,
      warmupPenaltyPercent: 0,
      warmupSteps: 0,
    });
    workload.requests.forEach(({ step, after }, name) => {
      if (after === undefined) put(this.arrivals, step, name);
    });
  }

  steps(): string[] {
    const lines: string[] = [];
    let idle = 0;
    for (let step = 0; step < MOST_STEPS; step++) {
      const line = this.step(step);
      lines.push(line);
      this.engine.audit();
      idle = line.startsWith(';') ? idle + 1 : 0;
      const areOver = this.ended.size === this.workload.requests.length && this.held.size === 0;
      if (areOver || idle > IDLE_STEPS) break;
    }
    return lines;
  }

  private step(step: number): string {
    this.before(step);
    const { engine } = this;
    const named = (handles: readonly SequenceHandle[] = []): string[] =>
      this.namesOf(handles)
        .sort((a, b) => a - b)
        .map(String);
    const isRunning = engine.beginStep(step) !== undefined;
    const { batch, waiting } = engine.queueState();
    const free = engine.gauges().freeBlocks;
    const reserved = this.reserved(step);
    const facts = isRunning ? engine.endStep() : undefined;
    const { emitted = [], held = [], finished: over = [] } = facts ?? {};
    const hasStages = this.workload.options.stages !== undefined;
    for (const handle of facts?.scheduled ?? [])
      this.computed.set(this.names.get(handle)!, engine.cachedTokens(handle));
    for (const name of this.namesOf(facts?.preempted ?? [])) this.computed.delete(name);
    const sampled =
      this.workload.options.asyncScheduling && !hasStages ? named([...emitted, ...held]) : [];
    const finished = named([...over, ...held]);
    for (const name of finished) this.finish(Number(name), step);
    this.report(step);
    const hits = this.namesOf(facts?.scheduled ?? [])
      .map((name) => [name, engine.cachedTokens(this.handles.get(name)!)] as const)
      .filter(([, tokens]) => tokens > 0)
      .sort(([a], [b]) => a - b);
    return [
      hasStages
        ? this.endedBatch(emitted)
        : batch.map(([handle, tokens]) => `${this.names.get(handle)}:${tokens}`),
      [String(free)],
      this.namesOf(waiting).map(String),
      named(facts?.preempted),
      reserved,
      hits.map(([name, tokens]) => `${name}:${tokens}`),
      finished,
      sampled,
    ]
      .map((values) => values.join(' '))
      .join(';')
      .replace(/;+$/, '');
  }

  /** The sequences of the batch that has ended: chunks with their tokens, and what got a token. */
  private endedBatch(emitted: readonly SequenceHandle[]): string[] {
    const members = this.namesOf(emitted).map((name) => [name, ''] as const);
    const others: (readonly [number, string])[] = [];
    for (const [name, before] of this.computed) {
      const handle = this.handles.get(name)!;
      if (members.some(([other]) => other === name)) this.computed.delete(name);
      else if (this.ended.has(name)) this.computed.delete(name);
      else if (this.engine.computedTokens(handle) !== before) {
        const now = this.engine.computedTokens(handle);
        others.push([name, `:${now - before}`]);
        this.computed.set(name, now);
      }
    }
    return [...members, ...others].sort(([a], [b]) => a - b).map((member) => member.join(''));
  }

  /** Takes what the connector reports with the end of a step. */
  private report(step: number): void {
    for (const name of this.loads.get(step) ?? []) {
      this.loading.delete(name);
      const handle = this.handles.get(name)!;
      if (this.workload.requests[name]!.fails) this.engine.kvFailed(handle);
      else this.engine.kvArrived(handle);
    }
    for (const name of this.sends.get(step) ?? []) {
      this.held.delete(name);
      this.engine.releaseHeld(this.handles.get(name)!);
    }
  }

  private before(step: number): void {
    for (const name of this.arrivals.get(step) ?? []) this.submit(name, step);
    for (const name of this.aborts.get(step) ?? []) {
      if (this.ended.has(name)) continue;
      if (this.loading.has(name)) {
        put(this.aborts, step + 1, name);
        continue;
      }
      this.engine.abort(this.handles.get(name)!);
      this.end(name, step);
    }
  }

  private submit(name: number, step: number): void {
    const request = this.workload.requests[name]!;
    const promptTokens = request.prompt.reduce((sum, [, tokens]) => sum + tokens, 0);
    const { remote, abortAfter, sendSteps, prefills } = request;
    const pulls = remote === undefined ? 'generate' : 'remote-prefill';
    const admission = this.engine.submit({
      requestId: String(name),
      promptTokens,
      outputTokens: request.out,
      endReason: request.stops && request.max > request.out ? 'stop' : 'length',
      blockHashes: this.hashesOf(request),
      priority: request.priority,
      arrivalUs: request.arrival,
      mode: prefills ? 'prefill-and-hold' : pulls,
      ...(remote === undefined ? {} : { remoteTokens: remote }),
      holdsAtEnd: sendSteps !== undefined,
    });
    if (admission.kind === 'refused') throw new Error(`refused: ${admission.why}`);
    this.handles.set(name, admission.handle);
    this.names.set(admission.handle, name);
    if (abortAfter !== undefined) put(this.aborts, step + abortAfter, name);
  }

  private reserved(step: number): string[] {
    const reserved: string[] = [];
    for (let r = this.engine.reserveNext(); r !== undefined; r = this.engine.reserveNext()) {
      const name = this.names.get(r.handle)!;
      if (r.missingTokens === 0) continue;
      reserved.push(`${name}:${r.missingTokens}`);
      this.loading.add(name);
      put(this.loads, step + this.workload.requests[name]!.loadSteps!, name);
    }
    return reserved;
  }

  private finish(name: number, step: number): void {
    const { sendSteps } = this.workload.requests[name]!;
    if (sendSteps !== undefined) {
      this.held.add(name);
      put(this.sends, step + sendSteps, name);
    }
    this.end(name, step);
  }

  private end(name: number, step: number): void {
    this.ended.add(name);
    this.workload.requests.forEach((request, other) => {
      if (request.after === name) put(this.arrivals, step + 1 + request.step, other);
    });
  }

  private namesOf(handles: readonly SequenceHandle[]): number[] {
    return handles.map((handle) => this.names.get(handle)!);
  }

  /** One number for each full block of prompt and output, the same for the same prefix. */
  private hashesOf({ prompt, base, out }: WorkloadRequest): number[] {
    const { blockSize, namesContents } = this.workload.options;
    if (!namesContents) return [];
    const text = [...prompt, [base, out] as const].flatMap(([number, tokens]) =>
      Array.from({ length: tokens }, (_, i) => `${number}.${i}`),
    );
    const hashes: number[] = [];
    for (let end = blockSize; end <= text.length; end += blockSize) {
      const key = `${hashes.at(-1) ?? 0}:${text.slice(end - blockSize, end).join()}`;
      if (!this.contents.has(key)) this.contents.set(key, this.contents.size + 1);
      hashes.push(this.contents.get(key)!);
    }
    return hashes;
  }
}

/** Stages of the same time: batches end in their order. */
function pipelineOf(stages: number): NonNullable<EngineOptions['stepTime']['pipeline']> {
  return { stages, fill: (_, us) => void us.fill(1) };
}

function speculationOf({ options }: Workload): Pick<EngineOptions, 'speculation'> {
  const { specTokens: tokens, drafter } = options;
  if (tokens === 0) return {};
  const model = { lookaheadTokens: tokens, dropsLastHit: drafter === 'eagle' };
  return { speculation: { tokens, acceptanceRate: ACCEPTANCE_RATE, ...(drafter && model) } };
}

function put(map: Map<number, number[]>, key: number, value: number): void {
  map.set(key, [...(map.get(key) ?? []), value]);
}
