/**
 * A broken invariant: a mistake in this program, never in its input. Nothing catches it but a
 * process's last handler.
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
 * Ends a `switch` over a union: the compiler proves that no case is missing, the program stops if
 * the data lied.
 */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable value: ${JSON.stringify(value)}`);
}
