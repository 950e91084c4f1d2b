import { Failure } from '@baton/kernel';
import type { RedisOptions } from 'ioredis';
import { parseRedisAddress } from './address';

/**
 * Options by which BullMQ's own classes connect to a Redis: they wait for an unreachable server and
 * reconnect.
 *
 * @throws Failure for an invalid URL, or one of a cluster
 */
export function redisOptionsOf(url: string): RedisOptions {
  const address = parseRedisAddress(url);
  if (address.kind === 'single') return { ...address.options, maxRetriesPerRequest: null };
  throw new Failure('Planners do not support Redis Cluster. Use a single Redis.');
}
