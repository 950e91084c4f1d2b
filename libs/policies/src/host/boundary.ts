import { Session } from 'node:inspector';

const SLOT = Symbol.for('baton.bounded');

/**
 * Calls functions through V8's inspector. When V8 or another thread ends the running code, the code
 * ends up to this call, and its callers go on. The code that is ended runs no `catch` and no
 * `finally`.
 */
export class Boundary {
  private readonly session = new Session();
  private readonly global: Record<symbol, unknown> = globalThis;

  constructor() {
    this.session.connect();
  }

  /**
   * Undefined: the function was ended. Its error is thrown.
   *
   * @param limitMs wall time after which V8 ends it; undefined: only another thread does
   */
  call<T>(run: () => T, limitMs?: number): { readonly value: T } | undefined {
    const ends: ({ readonly value: T } | { readonly error: unknown })[] = [];
    this.global[SLOT] = () => {
      try {
        ends.push({ value: run() });
      } catch (error) {
        ends.push({ error });
      }
    };
    const expression = 'globalThis[Symbol.for("baton.bounded")]()';
    const timeout = limitMs === undefined ? {} : { timeout: limitMs };
    this.session.post('Runtime.evaluate', { expression, silent: true, ...timeout });
    const [end] = ends;
    if (end !== undefined && 'error' in end) throw end.error;
    return end;
  }
}
