/** More tasks than allowed wait for their turn. */
export class TurnsFull extends Error {
  constructor() {
    super('too many tasks wait');
    this.name = 'TurnsFull';
  }
}

/**
 * Limits the number of tasks that run at the same time; the others wait, first come first served.
 */
export class Turns {
  private running = 0;
  /** A set keeps the order, and a waiter that gives up leaves it at once. */
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly most: number,
    private readonly mostWaiting = Infinity,
  ) {}

  /**
   * @param signal ends the wait, not the task
   * @throws TurnsFull; the reason of the signal
   */
  async take<T>(act: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.running < this.most) this.running += 1;
    else await this.turn(signal);
    try {
      return await act();
    } finally {
      this.pass();
    }
  }

  private async turn(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.waiting.size >= this.mostWaiting) throw new TurnsFull();
    const { promise, resolve, reject } = settled();
    const giveUp = (): void => {
      this.waiting.delete(resolve);
      reject(signal?.reason);
    };
    this.waiting.add(resolve);
    signal?.addEventListener('abort', giveUp);
    await promise.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  private pass(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.running -= 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}

interface Settled {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

function settled(): Settled {
  let resolve!: () => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
