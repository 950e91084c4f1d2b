import { assert, type Micros } from '@baton/kernel';
import { Column } from './column';
import { DenseIds } from './dense-ids';
import { NamedRows } from './named/named-column';
import { inOrderOfArrival } from './rows';
import type { Workload } from './workload';

/** One request from a reader or a generator. */
export interface Row {
  /** With `after`: the pause. See `Workload.arrivalUs`. */
  readonly arrivalUs: Micros;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly maxTokens?: number | undefined;
  /** An earlier row. */
  readonly after?: number | undefined;
  readonly session?: number | undefined;
  readonly priority?: number | undefined;
  readonly sloClass?: string | undefined;
  readonly tenant?: string | undefined;
  readonly adapter?: string | undefined;
  readonly requestId?: string | undefined;
}

export interface WorkloadBuilderOptions {
  /** Tokens per content id. Default: 16. */
  readonly contentBlockTokens?: number;
  /** Default: `prompt`. */
  readonly contentSpan?: Workload['contentSpan'];
}

/**
 * Collects rows into a `Workload`. Rows may be added in any order of arrival. The end sorts them
 * once (stable; later turns follow the first of their conversation). Content ids may be any numbers
 * from 1 and become dense. Columns that no row needs take no memory.
 */
export class WorkloadBuilder {
  private readonly arrivalUs = new Column(Float64Array);
  private readonly promptTokens = new Column(Int32Array);
  private readonly outputTokens = new Column(Int32Array);
  private readonly maxTokens = new Column(Int32Array);
  private readonly after = new Column(Int32Array);
  private readonly session = new Column(Float64Array);
  private readonly priority = new Column(Int32Array);
  private readonly sloClass = new NamedRows();
  private readonly tenant = new NamedRows();
  private readonly adapter = new NamedRows();
  private readonly contentStart = new Column(Float64Array);
  private readonly contentIds = new Column(Int32Array);
  private readonly requestIdStart = new Column(Float64Array);
  private readonly requestIdUnits = new Column(Uint16Array);
  private readonly denseIds = new DenseIds();

  constructor(private readonly options: WorkloadBuilderOptions = {}) {}

  get count(): number {
    return this.arrivalUs.length;
  }

  /** Adds a request; `addContent` then adds its content ids. Returns its current row. */
  add(row: Row): number {
    const index = this.count;
    this.arrivalUs.push(row.arrivalUs);
    this.promptTokens.push(row.promptTokens);
    this.outputTokens.push(row.outputTokens);
    if (this.contentIds.length > 0) this.contentStart.push(this.contentIds.length);
    if (row.after !== undefined) {
      assert(row.after < index, 'a row must wait for an earlier row');
      this.after.padTo(index, -1);
      this.after.push(row.after);
    }
    if (row.maxTokens !== undefined) put(this.maxTokens, index, row.maxTokens);
    if (row.session !== undefined) put(this.session, index, row.session);
    if (row.priority !== undefined && row.priority !== 0) put(this.priority, index, row.priority);
    this.sloClass.put(index, row.sloClass);
    this.tenant.put(index, row.tenant);
    this.adapter.put(index, row.adapter);
    if (row.requestId !== undefined) this.addRequestId(index, row.requestId);
    return index;
  }

  /** Adds the next block of the last request: any integer in [1, 2^53), 0 = private. */
  addContent(id: number): void {
    if (this.contentIds.length === 0) this.contentStart.padTo(this.count, 0);
    this.contentIds.push(id === 0 ? 0 : this.denseIds.of(id));
  }

  /** Adds the next blocks of the last request: each id plus `offset`. */
  addContents(ids: ArrayLike<number>, offset: number): void {
    for (let i = 0; i < ids.length; i++) this.addContent(ids[i]! + offset);
  }

  build(): Workload {
    const { count } = this;
    if (this.contentIds.length === 0) this.contentStart.padTo(count, 0);
    this.contentStart.push(this.contentIds.length);
    if (this.requestIdStart.length > 0) {
      this.requestIdStart.padTo(count + 1, this.requestIdUnits.length);
    }
    const filled = <T extends Float64Array | Int32Array>(column: Column<T>, blank: number): T => {
      if (column.length > 0) column.padTo(count, blank);
      return column.take();
    };
    const sloClass = this.sloClass.build(count);
    const tenant = this.tenant.build(count);
    const adapter = this.adapter.build(count);
    const ofSource = this.denseIds.names();
    return inOrderOfArrival({
      count,
      arrivalUs: this.arrivalUs.take(),
      promptTokens: this.promptTokens.take(),
      outputTokens: this.outputTokens.take(),
      maxTokens: filled(this.maxTokens, 0),
      after: filled(this.after, -1),
      session: filled(this.session, 0),
      priority: filled(this.priority, 0),
      ...(sloClass && { sloClass }),
      ...(tenant && { tenant }),
      ...(adapter && { adapter }),
      contentStart: this.contentStart.take(),
      contentIds: this.contentIds.take(),
      contentBlockTokens: this.options.contentBlockTokens ?? 16,
      contentCount: this.denseIds.size,
      ...(ofSource && { contentNames: { ofSource, parts: 1 } }),
      contentSpan: this.options.contentSpan ?? 'prompt',
      requestIdStart: this.requestIdStart.take(),
      requestIdUnits: this.requestIdUnits.take(),
    });
  }

  private addRequestId(row: number, id: string): void {
    this.requestIdStart.padTo(row + 1, this.requestIdUnits.length);
    for (let i = 0; i < id.length; i++) this.requestIdUnits.push(id.charCodeAt(i));
  }
}

function put(column: Column<Float64Array> | Column<Int32Array>, row: number, value: number): void {
  column.padTo(row, 0);
  column.push(value);
}
