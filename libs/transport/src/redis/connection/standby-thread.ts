import { workerData } from 'node:worker_threads';
import { type Lease, standBy } from '@baton/clock';
import type { TransportTimes } from '../../times';
import type { RedisAddress } from '../address/address';
import { type Script, ScriptRunner } from '../scripts/script';
import { openClient } from './client';

/** The thread of the link's `Standby`, with a connection of its own. */

/** The data that the thread gets at its start. */
export interface StandbyData {
  readonly address: RedisAddress;
  readonly times: TransportTimes;
}

/** Leases per script call, so that no call blocks the server for long. */
const BATCH = 256;

/**
 * Extends leases that this process still has, as BullMQ's `extendLock` does, and never shortens
 * one. KEYS: locks and presences. ARGV: per key the value that it must have (empty: any), and its
 * TTL in ms.
 */
const EXTEND_LEASES: Script = {
  name: 'extendLeases',
  body: `
for i, key in ipairs(KEYS) do
  local value, ttl = ARGV[2 * i - 1], tonumber(ARGV[2 * i])
  local left = redis.call('PTTL', key)
  if left >= 0 and left < ttl and (value == '' or redis.call('GET', key) == value) then
    redis.call('PEXPIRE', key, ttl)
  end
end
`,
};

const { address, times } = workerData as StandbyData;
/** The name shows in `CLIENT LIST`. */
const options = { ...address.options, connectionName: 'baton-standby' };
const scripts = new ScriptRunner(openClient({ ...address, options }, times.callDeadlineMs));

standBy(times, extendAll);

async function extendAll(all: readonly Lease[]): Promise<void> {
  for (let from = 0; from < all.length; from += BATCH) {
    const batch = all.slice(from, from + BATCH);
    const keys = batch.map(({ key }) => key);
    const args = batch.flatMap(({ value, ttlMs }) => [value, ttlMs]);
    await scripts.run(EXTEND_LEASES, keys, args);
  }
}
