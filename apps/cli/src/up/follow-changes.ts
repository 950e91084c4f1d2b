import { type BatonConfig, isScaled, transportTimes } from '@baton/config';
import {
  faultReporter,
  ChangeSchedule,
  type EngineStarter,
  LiveMembership,
} from '@baton/engine-host';
import { connectRedisTransport } from '@baton/transport';

export interface FollowedChanges {
  stop(): Promise<void>;
}

/**
 * Carries out the configured changes of a ready cluster, or its autoscaler's decisions, over the
 * Redis that its processes share.
 */
export async function followChanges(
  config: BatonConfig,
  starter: EngineStarter,
  say: (sentence: string) => void,
): Promise<FollowedChanges> {
  const { redis: url = '', redisPrefix: prefix } = config;
  const transport = await connectRedisTransport({ url, prefix, times: transportTimes(config) });
  const membership = new LiveMembership({ config, transport, starter });
  const onPolicyFault = faultReporter(transport, say);
  const follower = isScaled(config)
    ? (await import('@baton/supervisor')).liveAutoscaler(config, { membership, say, onPolicyFault })
    : new ChangeSchedule({ config, membership, say });
  void follower.run();
  return {
    stop: async () => {
      follower.stop();
      await transport.close();
    },
  };
}
