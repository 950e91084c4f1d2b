/**
 * Names of requests and engines: strings where they cross processes, integers where one process
 * counts them.
 */
export type AnyId = string | number;

/** What a coordinator keeps of each request that is here. */
export interface RequestTable<Id extends AnyId, V> {
  readonly size: number;
  get(id: Id): V | undefined;
  set(id: Id, value: V): unknown;
  delete(id: Id): boolean;
  values(): Iterable<V>;
}

/** @param rows  when ids are rows below this number; unset for names */
export function newRequestTable<Id extends AnyId, V>(rows?: number): RequestTable<Id, V> {
  return rows === undefined ? new Map<Id, V>() : (new RowTable<V>(rows) as RequestTable<AnyId, V>);
}

/**
 * A table by rows, of which few are here at once. A `Map` makes a new table every few removals;
 * this one keeps its places.
 */
export class RowTable<V> implements RequestTable<number, V> {
  /** By row: its place plus 1; 0 when it is not here. */
  private readonly places: Int32Array;
  private readonly held: (V | undefined)[] = [];
  private readonly free: number[] = [];

  constructor(rows: number) {
    this.places = new Int32Array(rows);
  }

  get size(): number {
    return this.held.length - this.free.length;
  }

  get(row: number): V | undefined {
    const place = this.places[row]!;
    return place === 0 ? undefined : this.held[place - 1];
  }

  set(row: number, value: V): void {
    const place = this.places[row]! || (this.free.pop() ?? this.held.push(undefined));
    this.places[row] = place;
    this.held[place - 1] = value;
  }

  delete(row: number): boolean {
    const place = this.places[row]!;
    if (place === 0) return false;
    this.places[row] = 0;
    this.held[place - 1] = undefined;
    this.free.push(place);
    return true;
  }

  values(): V[] {
    return this.held.filter((value) => value !== undefined);
  }
}
