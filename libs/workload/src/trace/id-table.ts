/** Ids below it stay as they are; the others get numbers from it on. */
const FIRST_GIVEN = 2 ** 52;
/** Most entries of a `Map` in V8. */
const MOST_GIVEN = 2 ** 24;
const INTEGER = /^-?\d+$/;

/**
 * Distinct numbers in [0, 2^53 - 1) for the integers of a trace, of any size and sign: routers
 * write hashes of 64 bits, which a double would merge. Only equal ids get the same number.
 */
export class IdTable {
  private readonly given = new Map<string, number>();

  /**
   * @param id a number, or an integer in digits (`TraceFields` reads those beyond 2^53 as text)
   * @returns undefined for what is no integer, and when the table is full
   */
  numberOf(id: unknown): number | undefined {
    if (typeof id === 'number' && id >= 0 && id < FIRST_GIVEN && id === Math.floor(id)) return id;
    const text = typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id;
    if (typeof text !== 'string' || !INTEGER.test(text)) return undefined;
    const known = this.given.get(text);
    if (known !== undefined) return known;
    if (this.given.size === MOST_GIVEN) return undefined;
    const number = FIRST_GIVEN + this.given.size;
    this.given.set(text, number);
    return number;
  }

  get isFull(): boolean {
    return this.given.size === MOST_GIVEN;
  }
}
