import { type BatonConfig, type EngineSetup, startupTimes } from '@baton/config';
import type { Stage } from '@baton/contract';
import { Engine, type EngineOptions } from '@baton/engine';
import { msToUs, secondsToUs } from '@baton/kernel';
import { type ServerAddress } from '../executors/server/executing';
import { executedBy } from '../executors/upstream/executed-by';
import { UNLIMITED } from '../prefill/source-side';
import { needsLoads } from '../routing/policy-routing';
import { publishers } from '../run/observers/load-publisher';
import type { HostOptions } from '../run/tokens';

function hostTierFacts({ hostTier, blockSize }: EngineOptions): Pick<HostOptions, 'hostTier'> {
  if (hostTier === undefined) return {};
  const { bytesPerBlock, bytesPerSecond } = hostTier;
  return { hostTier: { bytesPerToken: bytesPerBlock / blockSize, bytesPerSecond } };
}

type ExecutingSetup = EngineSetup & { readonly upstream?: ServerAddress | undefined };

/** A server's steps have no model. */
function stepTimeFacts(setup: ExecutingSetup): Pick<HostOptions, 'stepTimes'> {
  const { options, guard, upstream } = setup;
  if (upstream !== undefined) return {};
  const { description, method = 'given' } = options.stepTime;
  const outside = guard && {
    outside: () => ({
      steps: guard.stepsOutsideRange,
      unmeasured: guard.stepsOfUnmeasuredShape,
      farthest: guard.farthestOutside,
    }),
  };
  return { stepTimes: { method, description, ...outside } };
}

/** The executor of the work: a simulated engine, or a server. */
function workOf(
  config: BatonConfig,
  role: Stage,
  { options, upstream }: ExecutingSetup,
): Pick<HostOptions, 'buildEngine' | 'executor'> {
  if (upstream !== undefined) return executedBy(upstream, { config, role, options });
  return {
    buildEngine: (watcher, kvPool) =>
      new Engine({
        ...options,
        ...(watcher && { contentWatcher: watcher }),
        ...(kvPool && { kvPool }),
      }),
  };
}

/**
 * The options of a host of this role, from the configuration. @param setup has the server of an
 * executing engine
 */
export function hostOptions(config: BatonConfig, role: Stage, setup: ExecutingSetup): HostOptions {
  const { options, link } = setup;
  const { blockSize } = options;
  const kvEvents = publishers(config, { model: setup.servedModelName, blockSize });
  return {
    role,
    facts: {
      model: setup.servedModelName,
      maxNumSeqs: options.maxNumSeqs,
      maxNumBatchedTokens: options.maxNumBatchedTokens,
      blockSize: options.blockSize,
      numBlocks: options.numBlocks,
      tensorParallelSize: setup.tensorParallelSize,
      kvBytesPerToken: setup.kvBytesPerToken,
      link: {
        bytesPerSecond: Math.min(UNLIMITED, link.bytesPerSecond),
        baseLatencyUs: link.baseLatencyUs,
        ports: link.ports,
        ...(link.isTimedByTokens === true && { isTimedByTokens: true }),
      },
    },
    maxModelLen: options.maxModelLen,
    transferShape: setup.transferShape,
    ...(setup.transferTimes && { transferTimes: setup.transferTimes }),
    ...hostTierFacts(options),
    ...(setup.kvPool && { kvPool: setup.kvPool }),
    ...stepTimeFacts(setup),
    ...(kvEvents && { kvEvents }),
    ...workOf(config, role, setup),
    resultLeadUs: msToUs(config.resultLead),
    kvLeaseUs: secondsToUs(config.kvLeaseDuration),
    kvKeepUs: secondsToUs(config.decoderKvBlocksTtl),
    kvRecomputeThreshold: config.kvRecomputeThreshold,
    kvLoadFailurePolicy: config.kvLoadFailurePolicy,
    strictKv: config.strictKv,
    workerLossPolicy: config.workerLossPolicy,
    maxRuns: config.maxRuns,
    presenceTtlMs: config.presenceTtl * 1_000,
    kvReadTimeoutUs: secondsToUs(config.kvReadTimeout),
    maxLeaseWallUs: secondsToUs(config.lockDurationMax),
    ...startupTimes(config),
    fetchesCache: config.warmStart === 'peer',
    publishesLoad: needsLoads(config),
    publishesTimelines: config.timelineMaxEntries > 0,
    faults: { crashAfter: config.crashAfter, failReads: config.failReads, seed: config.seed },
  };
}
