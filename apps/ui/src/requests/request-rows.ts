import type { ClusterModel, RequestState } from '../cluster-model';

export const ROWS = 24;
/** Minimum time for which the row of an ended request stays, in ms. */
const LINGER_MS = 4_000;

/**
 * The requests of the list and their rows. A request keeps its row while it runs and for a while
 * after, so that the keyboard focus stays in place. Then a row without the focus goes to the newest
 * request without a row.
 */
export class RequestRows {
  readonly rows: (RequestState | undefined)[] = Array.from({ length: ROWS }, () => undefined);

  /**
   * @param held request that keeps its row, because it has the keyboard focus or its timeline is
   *   open
   */
  update(model: ClusterModel, held: RequestState | undefined): void {
    const shown = new Set(this.rows);
    const fresh = [...model.requests.values()].filter((each) => !shown.has(each)).reverse();
    const ended = model.ended.filter((each) => !shown.has(each));
    for (const [row, request] of this.rows.entries()) {
      if (request !== undefined && request === held) continue;
      const isFree =
        request === undefined ||
        (request.phase === 'ended' && model.atMs - request.phaseMs > LINGER_MS);
      if (!isFree) continue;
      this.rows[row] = fresh.shift() ?? request ?? ended.shift();
    }
  }
}
