/**
 * A row is four integers, so that all that is known of a block lies together: `id << ROW` is where that of a block begins, its first field says
 * how many owners it has. The others belong to the free order; `GAP` counts the private blocks that stand before this one.
 */
export const FIELDS = { ROW: 2, NEXT: 1, PREV: 2, GAP: 3 } as const;

const { ROW } = FIELDS;

/**
 * What is known of each block that has an id, and which ids nobody has. A block needs one only while others may find it or somebody asked;
 * there are as many as blocks, so none is ever lacking. The row past the last is at the disposal of the free order.
 */
export class BlockTable {
  readonly rows: Int32Array;
  private readonly generations: Int32Array;
  private readonly vacant: Int32Array;
  vacantCount: number;

  constructor(readonly numBlocks: number) {
    this.rows = new Int32Array((numBlocks + 1) << ROW);
    this.generations = new Int32Array(numBlocks);
    this.vacant = Int32Array.from({ length: numBlocks }, (_, i) => numBlocks - 1 - i);
    this.vacantCount = numBlocks;
  }

  /** The id that `draw` gives next; there must be one. */
  get nextVacant(): number {
    return this.vacant[this.vacantCount - 1]!;
  }

  /** Gives an id to a block with one owner. */
  draw(): number {
    const id = this.vacant[--this.vacantCount]!;
    this.generations[id]!++;
    this.rows[id << ROW] = 1;
    return id;
  }

  vacate(id: number): void {
    this.vacant[this.vacantCount++] = id;
  }

  ownersOf(id: number): number {
    return this.rows[id << ROW]!;
  }

  /** Rises each time the id is given to other content. */
  generationOf(id: number): number {
    return this.generations[id]!;
  }
}
