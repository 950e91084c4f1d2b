/* global URLSearchParams */
// Sends every query of our boards to the Prometheus of the compose file, as Grafana does.
import { join } from 'node:path';
import { runnerImport } from 'vite';
import { MODEL } from './streams.mjs';
import { ROOT } from './shell.mjs';

/** One TypeScript file reads the boards. */
async function boards() {
  return (await runnerImport(join(ROOT, 'test/support/board-queries.ts'))).module;
}

/** @returns all queries, and those that have no number yet */
export async function unanswered(prometheus) {
  const { ownBoardQueries, filledIn } = await boards();
  const queries = ownBoardQueries();
  const empty = [];
  for (const query of queries) {
    const url = `${prometheus}/api/v1/query`;
    // Prometheus scrapes every 5 s here; a rate needs two scrapes.
    const expr = filledIn(query.expr, MODEL).replaceAll('[10s]', '[30s]');
    const response = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ query: expr }),
    });
    const { data, error } = await response.json();
    if (error) throw new Error(`${query.expr}: ${error}`);
    const hasNumber = data.result.some(({ value }) => Number.isFinite(Number(value[1])));
    if (!hasNumber) empty.push(query);
  }
  return { queries, empty };
}
