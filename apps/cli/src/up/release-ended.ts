import { hostname } from 'node:os';
import { type BatonConfig, transportTimes } from '@baton/config';
import { releaseProcess } from '@baton/engine-host';
import { reasonOf } from '@baton/kernel';
import { connectRedisTransport } from '@baton/transport';

/** Tells a cluster over Redis that a process of this machine has ended. */
export async function releaseEnded(
  config: BatonConfig,
  pid: number,
  say: (sentence: string) => void,
): Promise<void> {
  const { redis: url, redisPrefix: prefix } = config;
  if (url === undefined) return;
  try {
    const transport = await connectRedisTransport({ url, prefix, times: transportTimes(config) });
    const released = releaseProcess(transport, { host: hostname(), pid });
    await released.finally(() => transport.close());
  } catch (error) {
    say(`the end of process ${pid} is not announced, its leases have to end: ${reasonOf(error)}`);
  }
}
