import type { BatonConfig } from '@baton/config';
import { connectRedisTransport } from '@baton/transport';
import { ChangeSchedule, type EngineStarter, LiveMembership } from '@baton/worker';

export interface FollowedChanges {
  stop(): Promise<void>;
}

/**
 * Carries out the configured changes of a cluster that has just become ready, over the Redis that
 * its processes share.
 */
export async function followChanges(
  config: BatonConfig,
  starter: EngineStarter,
  say: (sentence: string) => void,
): Promise<FollowedChanges> {
  const { redis: url = '', redisPrefix: prefix } = config;
  const transport = await connectRedisTransport({ url, prefix });
  const membership = new LiveMembership({ config, transport, starter });
  const schedule = new ChangeSchedule({ config, membership, say });
  void schedule.run();
  return {
    stop: async () => {
      schedule.stop();
      await transport.close();
    },
  };
}
