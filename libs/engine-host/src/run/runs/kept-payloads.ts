/** Limit of characters kept per run. */
const MAX_CHARS = 8 * 1024 * 1024;

/** The payloads of one run of an executing stage, so that lost frames can be sent again. */
export class KeptPayloads {
  private readonly all: string[] = [];
  chars = 0;
  private isFull = false;

  add(payload: string): void {
    if (this.isFull) return;
    this.chars += payload.length;
    this.all.push(payload);
    if (this.chars <= MAX_CHARS) return;
    this.isFull = true;
    this.forget();
  }

  /** Undefined when it is no longer kept. */
  at(index: number): string | undefined {
    return this.all[index];
  }

  forget(): void {
    this.all.length = 0;
    this.chars = 0;
  }
}
