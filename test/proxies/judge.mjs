// Sends the battery through proxies in front of one cluster, and prints a table of each.
import { battery, play, reference } from './battery.mjs';
import { ClusterMetrics } from './cluster-metrics.mjs';

/**
 * @param asked  { cluster, proxies, countedAt?, settleMs, model?, only, conversationId, transfers?
 * }; `transfers: false`: proxies without hand-overs
 * @returns the number of failed cases
 * @throws Error when the cluster is not at rest, or does not answer
 */
export async function judged(asked) {
  const metrics = new ClusterMetrics(asked.cluster, asked.countedAt);
  const left = await metrics
    .rest(asked.settleMs, asked.conversationId)
    .catch((error) => error.message);
  if (left !== '') throw new Error(`The cluster at ${asked.cluster} is not at rest: ${left}`);
  const cases = [];
  for (const one of battery(asked).filter(({ name }) => name.includes(asked.only))) {
    cases.push({ one, wanted: await reference(one, asked.cluster) });
  }
  let wrong = 0;
  for (const proxy of asked.proxies) wrong += await judge(proxy, { ...asked, metrics, cases });
  return wrong;
}

/** Prints the table of one proxy; returns the number of failed cases. */
async function judge(proxy, asked) {
  process.stdout.write(`${proxy}\n${line('case', 'requests', 'hand-overs', '')}`);
  let wrong = 0;
  let before = await asked.metrics.settledHandOvers();
  for (const one of asked.cases) {
    const row = await play({ ...one, before }, { ...asked, proxy });
    before = row.after;
    const verdict = row.faults.length === 0 ? `ok${row.note}` : `WRONG: ${row.faults.join('; ')}`;
    process.stdout.write(line(row.name, row.requests, row.handOvers, verdict));
    if (row.faults.length > 0) wrong += 1;
  }
  process.stdout.write(wrong === 0 ? 'all is well\n\n' : `${wrong} of the cases went wrong\n\n`);
  return wrong;
}

function line(name, requests, handOvers, verdict) {
  const cells = [name.padEnd(30), String(requests).padStart(8), String(handOvers).padStart(10)];
  return `  ${cells.join('  ')}  ${verdict}\n`.replace(/ +\n$/, '\n');
}
