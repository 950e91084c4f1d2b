interface Waiting<T> {
  readonly item: T;
  readonly resolve: (accepted: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects the items of one turn of the event loop, so that a burst of requests costs one round
 * trip. `send` gets all items of the turn and resolves each of them.
 */
export class TurnBatch<T> {
  private waiting: Waiting<T>[] = [];

  constructor(private readonly send: (items: readonly T[]) => Promise<readonly boolean[]>) {}

  add(item: T): Promise<boolean> {
    if (this.waiting.length === 0) setImmediate(() => void this.turn());
    return new Promise((resolve, reject) => this.waiting.push({ item, resolve, reject }));
  }

  private async turn(): Promise<void> {
    const batch = this.waiting;
    this.waiting = [];
    try {
      const answers = await this.send(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, i) => resolve(answers[i] ?? false));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
