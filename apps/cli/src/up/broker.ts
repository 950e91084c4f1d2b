import type { BatonConfig } from '@baton/config';
import {
  type Broker,
  type BrokerOptions,
  CacheUnusable,
  resolveBroker,
  TransportRefused,
  TransportUnavailable,
} from '@baton/transport';
import { Failure } from '@baton/kernel';

const BYTES: Readonly<Record<string, number>> = { kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30 };

/** The broker's options in the configuration. */
export function brokerOptions(config: BatonConfig): BrokerOptions {
  return {
    redisUrl: config.redis,
    redisPrefix: config.redisPrefix,
    maxMemoryBytes: bytesOf(config.redisMaxmemory),
    isInProcess: config.broker === 'in-process',
    mayInstall: config.install !== 'never',
  };
}

/**
 * The broker of this cluster, found or started.
 *
 * @throws Failure when the given Redis does not answer or its prefix is in use, or when there is no
 *   folder to unpack one
 */
export async function obtainBroker(
  config: BatonConfig,
  log: (line: string) => void,
): Promise<Broker> {
  try {
    return await resolveBroker(brokerOptions(config), log);
  } catch (error) {
    if (error instanceof CacheUnusable) throw new Failure(error.message);
    if (error instanceof TransportRefused) throw new Failure(error.message);
    if (error instanceof TransportUnavailable) {
      throw new Failure(
        `${error.message.replace(/\.$/, '')}. Check that it runs and accepts connections, and ` +
          'that --redis (or REDIS_URL) is right.',
      );
    }
    throw error;
  }
}

/** A size such as `512mb`, in the notation of Redis, in bytes. */
function bytesOf(size: string): number {
  const [, digits = '0', unit = ''] = /^(\d+)(\w*)$/.exec(size.toLowerCase()) ?? [];
  return Number(digits) * (BYTES[unit] ?? 1);
}
