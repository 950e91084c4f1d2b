import { assert } from '@baton/kernel';
import type { SpecialTokenTable } from './special-token-table';
import type { TokenTable } from './token-table';
import { fromBytes, toBytes } from './utf8-bytes';

/** Decodes ids by joining the texts of their tokens, for every vocabulary. */
export abstract class SpelledTokens {
  readonly longestToken: number;

  constructor(
    protected readonly tokens: TokenTable,
    readonly special: SpecialTokenTable,
  ) {
    this.longestToken = tokens.longest;
  }

  decode(ids: ArrayLike<number>): string {
    let bytes = '';
    for (let i = 0; i < ids.length; i++) bytes += this.bytes(ids[i] ?? -1);
    return fromBytes(bytes);
  }

  tokenText(id: number): string {
    return fromBytes(this.bytes(id));
  }

  tokenBytes(id: number): readonly number[] {
    return [...Buffer.from(this.bytes(id), 'latin1')];
  }

  hasToken(id: number): boolean {
    return this.tokens.has(id) || this.special.has(id);
  }

  private bytes(id: number): string {
    const bytes = this.tokens.bytesOf(id);
    if (bytes !== undefined) return bytes;
    const name = this.special.nameOf(id);
    assert(name !== undefined, `token ${id} is not in the vocabulary`);
    return toBytes(name);
  }
}
