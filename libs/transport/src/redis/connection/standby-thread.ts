import { workerData } from 'node:worker_threads';
import { ScriptRunner } from '../scripts/script';
import { type Lease, LeaseTable, SharedInstant, watchHeartbeat } from '@baton/clock';
import { openClient } from './client';
import { EXTEND_LEASES } from './lease-scripts';
import type { StandbyData } from './standby';

/** The thread of a `Standby`. */

/** Leases per script call, so that no call blocks the server for long. */
const BATCH = 256;

const data = workerData as StandbyData;
const leases = new LeaseTable(data.leases);
const heartbeat = new SharedInstant(data.heartbeat);
const extension = new SharedInstant(data.extension);
const client = openClient(named(data.address), data.callDeadlineMs);
const scripts = new ScriptRunner(client);
let isExtending = false;

watchHeartbeat(heartbeat, { everyMs: data.renewMs, forMs: data.lockMs }, extendIfLate);

/** Names the connection for `CLIENT LIST`. */
function named<Address extends StandbyData['address']>(address: Address): Address {
  return { ...address, options: { ...address.options, connectionName: 'baton-standby' } };
}

/** An event loop that is on time renews its own leases. One that never continues must lose them. */
async function extendIfLate(): Promise<void> {
  const lateMs = heartbeat.ageMs();
  if (isExtending || lateMs < data.renewMs || lateMs > data.ceilingMs) return;
  isExtending = true;
  try {
    if (await extendAll(leases.read())) extension.mark();
  } catch {
    // The leases were not extended; the next tick retries.
  } finally {
    isExtending = false;
  }
}

/** @returns whether all of them are still held */
async function extendAll(all: readonly Lease[]): Promise<boolean> {
  let living = 0;
  for (let from = 0; from < all.length; from += BATCH) {
    const batch = all.slice(from, from + BATCH);
    const keys = batch.map(({ key }) => key);
    const args = batch.flatMap(({ value, ttlMs }) => [value, ttlMs]);
    living += Number(await scripts.run(EXTEND_LEASES, keys, args));
  }
  return living === all.length;
}
