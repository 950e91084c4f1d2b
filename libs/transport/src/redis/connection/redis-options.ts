import type { RedisOptions } from 'ioredis';
import { TransportUnavailable } from '../../port/failures';
import { parseRedisAddress } from './address';

/**
 * Options by which BullMQ's own classes connect to a Redis: they wait for an unreachable server and
 * reconnect.
 *
 * @throws TransportUnavailable for an invalid URL, or one of a cluster
 */
export function redisOptionsOf(url: string): RedisOptions {
  const address = parseRedisAddress(url);
  if (address.kind === 'single') return { ...address.options, maxRetriesPerRequest: null };
  throw new TransportUnavailable('planners cannot use a Redis Cluster');
}
