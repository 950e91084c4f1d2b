import type { EngineAdapters } from '@baton/policies';
import { type NamedColumn, rowName } from '@baton/workload';

/** The LoRA adapters of the rows inside an engine, as a live engine reports them. */
export class AdapterBook {
  /** Whether each row has been in a batch. */
  private readonly rows = new Map<number, boolean>();

  /** @param most adapters of one batch */
  constructor(
    private readonly column: NamedColumn,
    private readonly most: number,
  ) {}

  enter(row: number): void {
    if (rowName(this.column, row) !== undefined) this.rows.set(row, false);
  }

  begin(row: number): void {
    if (this.rows.has(row)) this.rows.set(row, true);
  }

  leave(row: number): void {
    this.rows.delete(row);
  }

  get view(): EngineAdapters {
    const running = this.named(true);
    const waiting = this.named(false).filter((name) => !running.includes(name));
    return { running, waiting, most: this.most };
  }

  private named(hasRun: boolean): string[] {
    const rows = [...this.rows].filter(([, has]) => has === hasRun);
    return [...new Set(rows.map(([row]) => rowName(this.column, row)!))].sort();
  }
}
