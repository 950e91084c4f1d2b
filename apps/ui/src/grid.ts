export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface DotGrid {
  readonly box: Box;
  /** Width of a cell in CSS pixels, including the gap. */
  readonly cell: number;
  readonly columns: number;
  readonly capacity: number;
}

/** Cell widths to try, the largest first. */
const CELLS = [22, 18, 14, 12, 10, 8, 7, 6, 5, 4, 3];
/** Gap between two dots, as a share of the cell. */
const GAP = 0.22;

/** The largest cells of which `count` fit the box; the smallest cells when none fit. */
export function gridFor(box: Box, count: number): DotGrid {
  const grids = CELLS.filter((cell) => cell <= Math.max(box.height, 3)).map((cell) => {
    const columns = Math.max(1, Math.floor(box.width / cell));
    const rows = Math.max(1, Math.floor(box.height / cell));
    return { box, cell, columns, capacity: columns * rows };
  });
  return grids.find(({ capacity }) => capacity >= count) ?? grids.at(-1)!;
}

export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly size: number;
}

/**
 * Upper left corner and width of the dot in a slot. Slots are filled column by column from the
 * left; dots that do not fit lie on the last slot.
 */
export function spotOf({ box, cell, columns, capacity }: DotGrid, slot: number): Spot {
  const rows = Math.max(1, Math.round(capacity / columns));
  const shown = Math.min(slot, capacity - 1);
  const top = box.y + (box.height - rows * cell) / 2;
  return {
    x: box.x + Math.floor(shown / rows) * cell,
    y: top + (shown % rows) * cell,
    size: Math.max(2, cell * (1 - GAP)),
  };
}
