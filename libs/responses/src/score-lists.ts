import type { RawJson } from '@baton/text';

/** Least characters of a block that is full, and of a list that is long. */
const BLOCK_CHARACTERS = 131_072;
/** Encloses the number of an item whose list stands elsewhere. ASCII JSON has no such character. */
const MARK = '\0';

/**
 * The log-probabilities of the items of a response, as entries of JSON lists. A long list is kept
 * in blocks. An event has a mark in its place, so that the event can be sent in pieces: one string
 * of its whole length takes too long to copy.
 */
export class ScoreLists {
  private readonly blocks: string[][] = [];

  /** @param entries of a JSON list, one per new token */
  add(item: number, entries: readonly RawJson[]): void {
    if (entries.length === 0) return;
    const blocks = (this.blocks[item] ??= []);
    const text = entries.join(',');
    const last = blocks.length - 1;
    if (last < 0) blocks.push(text);
    else if (blocks[last]!.length < BLOCK_CHARACTERS) blocks[last] += `,${text}`;
    else blocks.push(`,${text}`);
  }

  /** The list of an item. */
  listOf(item: number): RawJson {
    return `[${joinedPieces(this.blocks[item] ?? [])}]`;
  }

  /** The list of an item, with a mark for the entries of a long one. */
  markedListOf(item: number): RawJson {
    const blocks = this.blocks[item] ?? [];
    return blocks.length < 2 ? this.listOf(item) : `[${MARK}${item}${MARK}]`;
  }

  /** A text that may have marks, with the entries in their places. */
  piecesOf(text: string): string[] {
    return text
      .split(MARK)
      .flatMap((part, i) => (i % 2 === 0 ? [part] : this.blocks[Number(part)]!));
  }
}

/** Joins without a copy: V8 keeps a reference to both parts of a sum. */
export function joinedPieces(pieces: readonly string[]): string {
  return pieces.reduce((text, piece) => text + piece, '');
}
