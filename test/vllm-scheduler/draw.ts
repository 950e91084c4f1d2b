import { RandomStream } from '@baton/kernel';

/** Random draws; each name has its own, so that a new one changes no other. */
export class Draw {
  private readonly stream: RandomStream;

  constructor(seed: number, name: string) {
    this.stream = RandomStream.root(seed).stream(name);
  }

  between(least: number, most: number): number {
    return least + this.stream.integer(most - least + 1);
  }

  chance(share: number): boolean {
    return this.stream.unit() < share;
  }

  oneOf<T>(values: readonly T[]): T {
    return values[this.between(0, values.length - 1)]!;
  }
}
