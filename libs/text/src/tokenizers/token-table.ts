import { assert } from '@baton/kernel';

/** Length that marks an id without a token. */
const HOLE = 0xffff_ffff;
/** Numbers at the beginning of a file: ids, slots, bytes. */
const HEAD = 3;
const WORD = Uint32Array.BYTES_PER_ELEMENT;
/** FNV-1a, 32 bits (RFC 9923, section 5). */
const FNV_BASIS = 0x811c_9dc5;
const FNV_PRIME = 0x0100_0193;

/**
 * The tokens of a vocabulary as bytes, with a hash table of their ids: 5 MB for 200,000 tokens,
 * where strings and a map take 40 MB. Bytes are passed as the characters of a string.
 */
export class TokenTable {
  /** Ids from 0, holes included. */
  readonly size: number;
  /** Bytes of the longest token, at least 1. */
  readonly longest: number;
  /** Ids + 1, at or after the slots of their hashes; 0: free. The first search builds it. */
  private slots: Uint32Array | undefined;

  /** @param ranges place and length of each id's bytes */
  private constructor(
    private readonly ranges: Uint32Array,
    private readonly bytes: Buffer,
  ) {
    this.size = ranges.length / 2;
    let longest = 1;
    for (let id = 0; id < this.size; id++) {
      const length = ranges[2 * id + 1]!;
      if (length !== HOLE && length > longest) longest = length;
    }
    this.longest = longest;
  }

  /** @param tokens by id; a hole is a special token or no token */
  static of(tokens: readonly (string | undefined)[]): TokenTable {
    const ranges = new Uint32Array(2 * tokens.length);
    let at = 0;
    for (let id = 0; id < tokens.length; id++) {
      const length = tokens[id]?.length;
      ranges[2 * id] = at;
      ranges[2 * id + 1] = length ?? HOLE;
      at += length ?? 0;
    }
    return new TokenTable(
      ranges,
      Buffer.from(Array.from(tokens, (one) => one ?? '').join(''), 'latin1'),
    );
  }

  /** Reads a table that `toFile` has written. Throws when the file is truncated or misaligned. */
  static read(file: Buffer): TokenTable {
    assert(file.byteOffset % WORD === 0, 'a table lies at a multiple of four bytes');
    const words = new Uint32Array(file.buffer, file.byteOffset, Math.floor(file.length / WORD));
    const [size = 0, slots = 0, bytes = 0] = words;
    const slotsAt = HEAD + 2 * size;
    const bytesAt = (slotsAt + slots) * WORD;
    assert(file.length === bytesAt + bytes, 'the length of a table is in its head');
    const table = new TokenTable(words.subarray(HEAD, slotsAt), file.subarray(bytesAt));
    table.slots = words.subarray(slotsAt, slotsAt + slots);
    return table;
  }

  toFile(): Buffer {
    const slots = (this.slots ??= this.hashed());
    const head = Uint32Array.of(this.size, slots.length, this.bytes.length);
    const words = [head, this.ranges, slots].map(({ buffer, byteOffset, byteLength }) =>
      Buffer.from(buffer, byteOffset, byteLength),
    );
    return Buffer.concat([...words, this.bytes]);
  }

  has(id: number): boolean {
    return (this.ranges[2 * id + 1] ?? HOLE) !== HOLE;
  }

  bytesOf(id: number): string | undefined {
    const length = this.ranges[2 * id + 1] ?? HOLE;
    if (length === HOLE) return undefined;
    const at = this.ranges[2 * id]!;
    return this.bytes.toString('latin1', at, at + length);
  }

  /** The id of these bytes. Undefined: no token has them. */
  idOf(bytes: string): number | undefined {
    const slots = (this.slots ??= this.hashed());
    const mask = slots.length - 1;
    for (let slot = hashOf(bytes) & mask; ; slot = (slot + 1) & mask) {
      const id = slots[slot]! - 1;
      if (id < 0) return undefined;
      if (this.spells(id, bytes)) return id;
    }
  }

  private spells(id: number, bytes: string): boolean {
    const { length } = bytes;
    if (this.ranges[2 * id + 1] !== length) return false;
    const at = this.ranges[2 * id]!;
    for (let i = 0; i < length; i++) if (this.bytes[at + i] !== bytes.charCodeAt(i)) return false;
    return true;
  }

  /** The hash table, at most half full, so that searches are short. */
  private hashed(): Uint32Array {
    const slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * this.size + 1)));
    const mask = slots.length - 1;
    for (let id = 0; id < this.size; id++) {
      const bytes = this.bytesOf(id);
      if (bytes === undefined) continue;
      let slot = hashOf(bytes) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id + 1;
    }
    return slots;
  }
}

function hashOf(bytes: string): number {
  let hash = FNV_BASIS;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes.charCodeAt(i), FNV_PRIME);
  return hash ^ (hash >>> 15);
}
