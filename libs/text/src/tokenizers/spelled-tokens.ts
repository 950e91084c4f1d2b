import { assert } from '@baton/kernel';
import type { SpecialTokenTable } from './special-token-table';
import { fromBytes, toBytes } from './utf8-bytes';

/** Bytes of each token by id, one character per byte; a hole is a special token or no token. */
export type TokenBytes = readonly (string | undefined)[];

/** Ids to text, the same for every vocabulary: a text is what its tokens spell. */
export abstract class SpelledTokens {
  readonly longestToken: number;

  constructor(
    protected readonly bytesOf: TokenBytes,
    readonly special: SpecialTokenTable,
  ) {
    this.longestToken = bytesOf.reduce((most, one) => Math.max(most, one?.length ?? 0), 1);
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
    return this.bytesOf[id] !== undefined || this.special.has(id);
  }

  private bytes(id: number): string {
    const bytes = this.bytesOf[id];
    if (bytes !== undefined) return bytes;
    const name = this.special.nameOf(id);
    assert(name !== undefined, `token ${id} is not in the vocabulary`);
    return toBytes(name);
  }
}
