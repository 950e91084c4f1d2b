/**
 * A broken invariant: a bug in this program, never an error in its input. Only a process's last
 * handler catches it.
 */
export class InvariantError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvariantError';
  }
}

/**
 * Checks an invariant; stays on in production.
 *
 * @throws InvariantError when the condition does not hold.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/**
 * Ends a `switch` over a union: the compiler proves that no case is missing, and the program stops
 * if the data does not match its type.
 */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable value: ${JSON.stringify(value)}`);
}
