import { IntegerMap } from './integer-map';

/**
 * Names of requests and engines: strings where names cross processes, integers in [0, 2^31) where
 * one process counts them itself.
 */
export type AnyId = string | number;

/** A map by ids of either kind. Entries under integers come and go without garbage. */
export class IdMap<Id extends AnyId, V extends NonNullable<unknown>> {
  private readonly byNumber = new IntegerMap<V>();
  private readonly byName = new Map<AnyId, V>();

  get size(): number {
    return this.byNumber.size + this.byName.size;
  }

  get(id: Id): V | undefined {
    return typeof id === 'number' ? this.byNumber.get(id) : this.byName.get(id);
  }

  has(id: Id): boolean {
    return typeof id === 'number' ? this.byNumber.has(id) : this.byName.has(id);
  }

  set(id: Id, value: V): void {
    if (typeof id === 'number') this.byNumber.set(id, value);
    else this.byName.set(id, value);
  }

  delete(id: Id): void {
    if (typeof id === 'number') this.byNumber.delete(id);
    else this.byName.delete(id);
  }

  clear(): void {
    this.byNumber.clear();
    this.byName.clear();
  }

  /** Values in insertion order for names, in no particular order for integers. */
  values(): V[] {
    return [...this.byName.values(), ...this.byNumber.values()];
  }
}
