import { mix } from '@baton/kernel';
import { workloadStream } from './generate/draw-lengths';
import type { Workload } from './workload';

const KEYS = 2 ** 53;

/**
 * The contents of prompts as numbers of words. Blocks with the same content id have the same words,
 * all others have different ones. A prompt depends only on (seed, workload, row), so the order of
 * calls does not matter.
 */
export class PromptContents {
  private readonly sharedKey: number;
  private readonly ownKey: number;

  /** @param words  number of different words, >= 1 */
  constructor(
    private readonly workload: Workload,
    seed: number,
    private readonly words: number,
  ) {
    this.sharedKey = workloadStream(seed, 'shared contents').integer(KEYS);
    this.ownKey = workloadStream(seed, 'own contents').integer(KEYS);
  }

  /** One number in [0, `words`) per prompt token. */
  prompt(row: number): Int32Array {
    const { contentStart, contentIds, contentBlockTokens, promptTokens } = this.workload;
    const words = this.own(row, promptTokens[row]!);
    const first = contentStart[row]!;
    for (let at = first; at < contentStart[row + 1]!; at++) {
      const id = contentIds[at]!;
      const from = (at - first) * contentBlockTokens;
      if (id !== 0) this.write(words.subarray(from, from + contentBlockTokens), id);
    }
    return words;
  }

  /**
   * `tokens` words that differ from those of every other row, for the messages of a user in a
   * conversation.
   */
  own(row: number, tokens: number): Int32Array {
    const words = new Int32Array(tokens);
    const key = mix(this.ownKey, row);
    for (let i = 0; i < tokens; i++) words[i] = mix(key, i) % this.words;
    return words;
  }

  private write(block: Int32Array, id: number): void {
    const key = mix(this.sharedKey, id);
    for (let i = 0; i < block.length; i++) block[i] = mix(key, i) % this.words;
  }
}
