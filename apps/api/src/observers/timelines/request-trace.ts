import type { EngineFact, EngineFacts, EngineJob, Epoch, RunFacts, Stage } from '@baton/contract';
import type { Tenant } from '../../http/request-context';
import type { End, ObservedSequence, SequenceHistory } from '../port/port';

/** Rows of a small trace: V8 stores an array of this length inside the object. */
const FIRST_ROWS = 4;
export const MOST_ROWS = 128;
/** Facts kept of one run: more than any normal run has. */
const MOST_FACTS = 128;

/**
 * The part of a job that is kept; its block hashes would take many times the memory of the rest.
 */
export type TracedJob = Pick<EngineJob, 'requestId' | 'promptTokens' | 'flow'>;

/** The facts that the engine of one stage sent. */
export interface StageFacts {
  readonly engineId: string;
  readonly epoch: Epoch;
  readonly facts: EngineFact[];
}

export interface TraceEnd extends End {
  /** µs of the wall clock since the Unix epoch. */
  readonly atUs: number;
}

/**
 * The record of one sequence: its history, and the facts that its engines sent beside their frames.
 * For a sequence with several runs in a stage, the last run there counts. Instants are µs of the
 * wall clock since the Unix epoch.
 */
export class SequenceTrace {
  readonly marks = new StepMarks();
  readonly stages = new Map<Stage, StageFacts>();
  end: TraceEnd | undefined;
  received = 0;
  cachedTokens = 0;

  readonly job: TracedJob;

  constructor(
    { requestId, promptTokens, flow }: TracedJob,
    readonly index: number,
    readonly seen: SequenceHistory,
  ) {
    this.job = { requestId, promptTokens, flow };
  }

  tokens(received: number, stampedUs: number): void {
    this.marks.add(stampedUs, received);
    this.received = received;
  }

  noteEnd({ received, cachedTokens }: ObservedSequence, end: TraceEnd): void {
    this.received = received;
    this.cachedTokens = cachedTokens;
    this.end ??= end;
  }

  noteFacts({ engineId, stage }: EngineFacts, { epoch, facts }: RunFacts): void {
    const known = this.stages.get(stage);
    if (known !== undefined && known.epoch > epoch) return;
    const isSame = known !== undefined && known.epoch === epoch && known.engineId === engineId;
    const all = isSame ? [...known.facts, ...facts] : [...facts];
    this.stages.set(stage, { engineId, epoch, facts: all.slice(0, MOST_FACTS) });
  }

  /** The facts of one kind with the engines that sent them, in the order in which they came. */
  all(kind: EngineFact[0]): { readonly engineId: string; readonly fact: EngineFact }[] {
    return [...this.stages.values()].flatMap(({ engineId, facts }) =>
      facts.filter(([of]) => of === kind).map((fact) => ({ engineId, fact })),
    );
  }
}

/** One request of a client with its sequences. */
export interface RequestTrace {
  readonly owner: Tenant;
  /** Id of the answer. */
  readonly id: string;
  /** `X-Request-Id`. */
  readonly requestId: string;
  readonly endpoint: string;
  readonly model: string;
  /** µs of the wall clock since the Unix epoch. */
  readonly arrivalUs: number;
  readonly sequences: SequenceTrace[];
  /** ms of `performance.now()` at which the last sequence ended. */
  endedMs: number | undefined;
}

export function hasEnded({ sequences }: RequestTrace): boolean {
  for (const { end } of sequences) if (end === undefined) return false;
  return true;
}

/**
 * When tokens came: rows of an instant and the number of tokens by then. The memory is limited for
 * any length of the answer: when the rows are used up, pairs of rows are merged, and from then on
 * each row covers twice as many steps.
 */
export class StepMarks {
  /** Steps that brought tokens. */
  count = 0;
  /** Steps per row; the last row can have fewer. */
  perRow = 1;
  firstUs: number | undefined;
  private rows = new Float64Array(2 * FIRST_ROWS);
  private used = 0;
  private inLast = 0;

  /** @param tokens received so far, this step included */
  add(atUs: number, tokens: number): void {
    this.firstUs ??= atUs;
    this.count += 1;
    if (this.used === 0 || this.inLast === this.perRow) this.newRow();
    this.inLast += 1;
    this.rows[2 * this.used - 2] = atUs;
    this.rows[2 * this.used - 1] = tokens;
  }

  get lastUs(): number | undefined {
    return this.used === 0 ? undefined : this.rows[2 * this.used - 2];
  }

  /** `[instant, tokens by then]`. */
  list(): [number, number][] {
    return Array.from({ length: this.used }, (_none, row) => [
      this.rows[2 * row] ?? 0,
      this.rows[2 * row + 1] ?? 0,
    ]);
  }

  private newRow(): void {
    if (this.used === MOST_ROWS) this.halve();
    else if (2 * this.used === this.rows.length) this.grow();
    this.used += 1;
    this.inLast = 0;
  }

  private grow(): void {
    const larger = new Float64Array(Math.min(2 * this.rows.length, 2 * MOST_ROWS));
    larger.set(this.rows);
    this.rows = larger;
  }

  private halve(): void {
    this.used = MOST_ROWS / 2;
    this.perRow *= 2;
    for (let row = 0; row < this.used; row += 1) {
      this.rows[2 * row] = this.rows[4 * row + 2] ?? 0;
      this.rows[2 * row + 1] = this.rows[4 * row + 3] ?? 0;
    }
  }
}
