/**
 * A constraint that no text can meet, or that cannot be read. The message is one sentence with the
 * reason.
 */
export class ConstraintError extends Error {
  /**
   * @param pointer JSON pointer into the schema; empty for its root, undefined where the constraint
   *   is not a schema
   */
  constructor(
    readonly reason: string,
    readonly pointer?: string,
  ) {
    super(pointer === undefined ? reason : `${reason} (${placeOf(pointer)})`);
    this.name = 'ConstraintError';
  }
}

function placeOf(pointer: string): string {
  return pointer === '' ? 'at the top' : `at '${pointer}'`;
}
