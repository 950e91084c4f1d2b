import type { ClusterModel, RequestState } from './cluster-model';

export const ROWS = 24;
/** How long the row of an ended request stays at least. */
const LINGER_MS = 4_000;

/**
 * Which requests the list shows, and in which row. A request keeps its row while it runs and for a
 * while after, so that the focus of the keyboard stays where it is. A row without the focus then
 * goes to the newest request without a row.
 */
export class RequestRows {
  readonly rows: (RequestState | undefined)[] = Array.from({ length: ROWS }, () => undefined);

  /** @param held  row with the keyboard focus, which keeps its request */
  update(model: ClusterModel, held: number | undefined): void {
    const shown = new Set(this.rows);
    const fresh = [...model.requests.values()].filter((each) => !shown.has(each)).reverse();
    const ended = model.ended.filter((each) => !shown.has(each));
    for (const [row, request] of this.rows.entries()) {
      if (row === held && request !== undefined) continue;
      const isFree =
        request === undefined ||
        (request.phase === 'ended' && model.atMs - request.phaseMs > LINGER_MS);
      if (!isFree) continue;
      this.rows[row] = fresh.shift() ?? request ?? ended.shift();
    }
  }

  clear(): void {
    this.rows.fill(undefined);
  }
}
