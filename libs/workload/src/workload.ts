import { assert, type Micros } from '@baton/kernel';

/**
 * The requests of a run as columns; row i is the i-th to arrive. Typed arrays over shared memory when `shared` was asked for, so that worker
 * threads read one copy. About 40 bytes per request plus 4 per content block.
 */
export interface Workload {
  readonly count: number;
  /** Ascending. For a row with `after`, the pause between the end of that request and this one's arrival. */
  readonly arrivalUs: Float64Array;
  readonly promptTokens: Int32Array;
  readonly outputTokens: Int32Array;
  /** Row that must have ended before this one arrives (the turn before), -1 = none. Empty when no row has one. */
  readonly after: Int32Array;
  /** Conversations and users: rows with the same key belong together, 0 = none. Empty when no row has one. */
  readonly session: Float64Array;
  /** vLLM's priority, lower first. Empty when all are 0. */
  readonly priority: Int32Array;
  /**
   * What blocks of prompt (and output) hold: row i has the ids `contentIds[contentStart[i]]` up to `contentStart[i + 1]`, each for
   * `contentBlockTokens` tokens, from the beginning of the prompt on; equal ids = equal content *and* equal content before it. 0 and what lies
   * behind the list is private. Ids are dense: 1..contentCount.
   */
  readonly contentStart: Float64Array;
  readonly contentIds: Int32Array;
  readonly contentBlockTokens: number;
  readonly contentCount: number;
}

interface Row {
  readonly arrivalUs: Micros;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly after?: number;
  readonly session?: number;
  readonly priority?: number;
}

export interface WorkloadBuilderOptions {
  /** Tokens per content id (default 16). */
  readonly contentBlockTokens?: number;
}

/**
 * Collects rows into a `Workload`. Rows may come in any order of arrival and are sorted once at the end (stable); content ids may be any
 * numbers from 1 and are made dense.
 */
export class WorkloadBuilder {
  private readonly arrivalUs = new Column(Float64Array);
  private readonly promptTokens = new Column(Int32Array);
  private readonly outputTokens = new Column(Int32Array);
  private readonly after = new Column(Int32Array);
  private readonly session = new Column(Float64Array);
  private readonly priority = new Column(Int32Array);
  private readonly contentStart = new Column(Float64Array);
  private readonly contentIds = new Column(Int32Array);
  private readonly denseIds = new Map<number, number>();
  private hasAfter = false;
  private hasSession = false;
  private hasPriority = false;

  constructor(private readonly options: WorkloadBuilderOptions = {}) {}

  get count(): number {
    return this.arrivalUs.length;
  }

  /** Adds a request; its content ids follow by `addContent`. Returns its row so far. */
  add(row: Row): number {
    this.contentStart.push(this.contentIds.length);
    this.arrivalUs.push(row.arrivalUs);
    this.promptTokens.push(row.promptTokens);
    this.outputTokens.push(row.outputTokens);
    this.after.push(row.after ?? -1);
    this.session.push(row.session ?? 0);
    this.priority.push(row.priority ?? 0);
    this.hasAfter ||= row.after !== undefined;
    this.hasSession ||= row.session !== undefined;
    this.hasPriority ||= (row.priority ?? 0) !== 0;
    return this.count - 1;
  }

  /** The next block of the request that was added last. 0 = private. */
  addContent(id: number): void {
    if (id === 0) {
      this.contentIds.push(0);
      return;
    }
    let dense = this.denseIds.get(id);
    if (dense === undefined) {
      dense = this.denseIds.size + 1;
      this.denseIds.set(id, dense);
    }
    this.contentIds.push(dense);
  }

  /** @throws InvariantError when rows with `after` are not in order already: a turn follows the one before. */
  build(): Workload {
    this.contentStart.push(this.contentIds.length);
    const built: Workload = {
      count: this.count,
      arrivalUs: this.arrivalUs.take(),
      promptTokens: this.promptTokens.take(),
      outputTokens: this.outputTokens.take(),
      after: this.hasAfter ? this.after.take() : new Int32Array(0),
      session: this.hasSession ? this.session.take() : new Float64Array(0),
      priority: this.hasPriority ? this.priority.take() : new Int32Array(0),
      contentStart: this.contentStart.take(),
      contentIds: this.contentIds.take(),
      contentBlockTokens: this.options.contentBlockTokens ?? 16,
      contentCount: this.denseIds.size,
    };
    return this.hasAfter ? built : inOrderOfArrival(built);
  }
}

/** A typed array that grows. */
class Column<T extends Float64Array | Int32Array> {
  private values: T;
  length = 0;

  constructor(private readonly type: new (size: number) => T) {
    this.values = new type(1024);
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const grown = new this.type(this.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.length++] = value;
  }

  take(): T {
    return this.values.slice(0, this.length) as T;
  }
}

function inOrderOfArrival(workload: Workload): Workload {
  const { arrivalUs, count } = workload;
  let isSorted = true;
  for (let i = 1; i < count && isSorted; i++) isSorted = arrivalUs[i - 1]! <= arrivalUs[i]!;
  if (isSorted) return workload;
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  order.sort((a, b) => arrivalUs[a]! - arrivalUs[b]! || a - b);
  return pick(workload, order);
}

/** The rows of `order`, in that order. */
export function pick(workload: Workload, order: ArrayLike<number>): Workload {
  assert(workload.after.length === 0, 'rows that wait for others cannot be picked apart');
  const count = order.length;
  const floats = (from: Float64Array): Float64Array =>
    from.length === 0 ? from : Float64Array.from({ length: count }, (_, i) => from[order[i]!]!);
  const ints = (from: Int32Array): Int32Array =>
    from.length === 0 ? from : Int32Array.from({ length: count }, (_, i) => from[order[i]!]!);
  const contentStart = new Float64Array(count + 1);
  for (let i = 0; i < count; i++) {
    const row = order[i]!;
    const blocks = workload.contentStart[row + 1]! - workload.contentStart[row]!;
    contentStart[i + 1] = contentStart[i]! + blocks;
  }
  const contentIds = new Int32Array(contentStart[count]!);
  for (let i = 0; i < count; i++) {
    const from = workload.contentStart[order[i]!]!;
    const to = workload.contentStart[order[i]! + 1]!;
    contentIds.set(workload.contentIds.subarray(from, to), contentStart[i]!);
  }
  return {
    ...workload,
    count,
    arrivalUs: floats(workload.arrivalUs),
    promptTokens: ints(workload.promptTokens),
    outputTokens: ints(workload.outputTokens),
    session: floats(workload.session),
    priority: ints(workload.priority),
    contentStart,
    contentIds,
  };
}
