/** A name for some of the rows, from few different names. */
export interface NamedColumn {
  /** By row: the place of its name in `names` plus 1. 0 means no name. */
  readonly places: Int32Array;
  readonly names: readonly string[];
}

/** The name of a row. Undefined when it has none. */
export function rowName(column: NamedColumn | undefined, row: number): string | undefined {
  return column?.names[(column.places[row] ?? 0) - 1];
}

/** The same names with other rows. */
export function withPlaces(
  column: NamedColumn | undefined,
  change: (places: Int32Array) => Int32Array,
): NamedColumn | undefined {
  return column && { places: change(column.places), names: column.names };
}

/** Collects the names of rows. */
export class NamedRows {
  private readonly places: number[] = [];
  private readonly byName = new Map<string, number>();

  put(row: number, name: string | undefined): void {
    if (name === undefined) return;
    const place = this.byName.get(name) ?? this.byName.size + 1;
    this.byName.set(name, place);
    this.places[row] = place;
  }

  /** Builds the column. Undefined when no row has a name. */
  build(count: number): NamedColumn | undefined {
    if (this.byName.size === 0) return undefined;
    const places = Int32Array.from({ length: count }, (_, row) => this.places[row] ?? 0);
    return { places, names: [...this.byName.keys()] };
  }
}

/** Concatenates this column of several workloads. */
export function joinNamed(
  parts: readonly { readonly count: number; readonly column: NamedColumn | undefined }[],
): NamedColumn | undefined {
  const rows = new NamedRows();
  let total = 0;
  for (const { count, column } of parts) {
    for (let row = 0; row < count; row++) rows.put(total + row, rowName(column, row));
    total += count;
  }
  return rows.build(total);
}
