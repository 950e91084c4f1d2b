import { UsageError } from '@baton/config';
import { type ArrivalSpec, meanRatePerSecond, type Workload } from '@baton/workload';
import type { FlagValues } from './flag-values';
import { type ArrivalKind, ARRIVALS, flagNameOf, type WorkloadFlag } from './workload-flags';

const RAMP_FLAGS = ['rampUpStrategy', 'rampUpStartRps', 'rampUpEndRps'] as const;
/** Flags that change the arrivals of requests. */
export const RETIMING = [
  ...(['arrivals', 'requestRate', 'rateScale', 'burstiness'] as const),
  ...RAMP_FLAGS,
] as const;

/**
 * The source of the arrivals of requests: those of the trace, perhaps spread, or a process that
 * replaces them.
 */
export type ArrivalPlan =
  | {
      readonly kind: 'trace' | 'spread';
      /** Scales the gaps to this mean rate, requests per second. */
      readonly ratePerSecond: number | undefined;
    }
  | { readonly kind: 'process'; readonly spec: ArrivalSpec };

/**
 * Arrivals of the requests of a trace. A process without a rate gets the mean rate of the trace.
 */
export function arrivalsOfTrace(flags: FlagValues, workload: Workload): ArrivalPlan {
  const kind = chosenKind(flags) ?? (flags.has('requestRate') ? 'gamma' : 'trace');
  const rate = flags.positive('requestRate', true);
  if (kind !== 'trace' && kind !== 'spread') {
    const ownRate = meanRatePerSecond(workload) || Infinity;
    return { kind: 'process', spec: processOf(flags, kind, rate ?? ownRate) };
  }
  refuse(flags, ['burstiness', ...RAMP_FLAGS], `--arrivals ${kind}`);
  if (rate === Infinity) return { kind: 'process', spec: { kind: 'at-once' } };
  return { kind, ratePerSecond: rate };
}

/**
 * Arrivals of requests that have none in their file. Without a rate all arrive together, as with
 * `vllm bench serve`.
 */
export function arrivalsOfDataset(flags: FlagValues): ArrivalSpec {
  const kind = chosenKind(flags) ?? 'gamma';
  if (kind === 'trace' || kind === 'spread') {
    throw new UsageError(`--arrivals ${kind} needs --trace: a dataset has no arrivals of its own.`);
  }
  const isRandom = flags.has('arrivals') || flags.has('burstiness');
  if (kind !== 'ramp' && isRandom && !flags.has('requestRate')) {
    throw new UsageError('A dataset has no rate of its own; add --request-rate.');
  }
  return processOf(flags, kind, flags.positive('requestRate', true) ?? Infinity);
}

function chosenKind(flags: FlagValues): ArrivalKind | undefined {
  const given = flags.choice('arrivals', ARRIVALS);
  return given ?? (RAMP_FLAGS.some((name) => flags.has(name)) ? 'ramp' : undefined);
}

function processOf(
  flags: FlagValues,
  kind: Exclude<ArrivalKind, 'trace' | 'spread'>,
  ratePerSecond: number,
): ArrivalSpec {
  if (kind === 'ramp') return rampOf(flags);
  refuse(flags, RAMP_FLAGS, `--arrivals ${kind}`);
  const burstiness = flags.positive('burstiness', true);
  if (kind !== 'gamma') refuse(flags, ['burstiness'], `--arrivals ${kind}`);
  if (ratePerSecond === Infinity) return { kind: 'at-once' };
  if (kind === 'constant' || burstiness === Infinity) return { kind: 'constant', ratePerSecond };
  if (kind === 'poisson' || burstiness === undefined || burstiness === 1) {
    return { kind: 'poisson', ratePerSecond };
  }
  return { kind: 'gamma', ratePerSecond, burstiness };
}

function rampOf(flags: FlagValues): ArrivalSpec {
  refuse(flags, ['requestRate'], 'a ramp');
  const from = flags.positive('rampUpStartRps');
  const to = flags.positive('rampUpEndRps');
  if (from === undefined || to === undefined) {
    throw new UsageError('A ramp needs --ramp-up-start-rps and --ramp-up-end-rps.');
  }
  const strategy = flags.choice('rampUpStrategy', ['linear', 'exponential'] as const) ?? 'linear';
  const burstiness = flags.positive('burstiness') ?? 1;
  return { kind: 'ramp', strategy, fromRatePerSecond: from, toRatePerSecond: to, burstiness };
}

function refuse(flags: FlagValues, names: readonly WorkloadFlag[], beside: string): void {
  const name = names.find((each) => flags.has(each));
  if (name !== undefined)
    throw new UsageError(`${flagNameOf(name)} has no effect beside ${beside}.`);
}
