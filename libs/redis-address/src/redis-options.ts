import { Failure } from '@baton/kernel';
import type { RedisOptions } from 'ioredis';
import { parseRedisAddress } from './address';

/**
 * How BullMQ's own classes connect to a Redis: they wait for one that is away and come back.
 *
 * @throws Failure for a URL that is not understood, or of a cluster
 */
export function redisOptionsOf(url: string): RedisOptions {
  const address = parseRedisAddress(url);
  if (address.kind === 'single') return { ...address.options, maxRetriesPerRequest: null };
  throw new Failure('planners cannot use a Redis Cluster');
}
