import {
  type FlowLimits,
  type FlowPolicy,
  type FlowPolicySpec,
  ONLY_CLASS,
  type SloClass,
  SloClasses,
} from '@baton/flow-control';
import { msToUs, secondsToUs } from '@baton/kernel';
import type { BatonConfig } from './config';
import { isModulePath } from './option';
import { ownPolicy } from './own-policy-file';
import { UsageError } from './usage-error';

/** The flow control of a configuration, for both clocks. */
export interface FlowControlSpec {
  readonly policy: FlowPolicySpec;
  readonly limits: FlowLimits;
  /** Requests under way per ready engine that generates. */
  readonly concurrency: number;
}

/**
 * The SLO classes of a configuration; undefined when it has none.
 *
 * @throws UsageError when the default class is none of them
 */
export function sloClassesOf(config: BatonConfig): SloClasses | undefined {
  const all = Object.entries(config.sloClasses ?? {}).map(([name, row]) => classOf(name, row));
  const { sloDefaultClass: wanted = all[0]?.name } = config;
  const ordinary = all.find(({ name }) => name === wanted);
  if (ordinary !== undefined) return new SloClasses(all, ordinary);
  if (wanted === undefined) return undefined;
  const known = all.length === 0 ? 'which is not set' : all.map(({ name }) => name).join(', ');
  throw new UsageError(`slo_default_class '${wanted}' is none of slo_classes: ${known}.`);
}

function classOf(name: string, row: Readonly<Record<string, number>>): SloClass {
  const { ttft, tpot, weight = 1, priority = 0 } = row;
  return {
    ...{ name, priority, weight },
    ...(ttft !== undefined && { ttftUs: msToUs(ttft) }),
    ...(tpot !== undefined && { tpotUs: msToUs(tpot) }),
  };
}

/** The classes by which requests are queued: a single one when none is configured. */
export function queueingClasses(config: BatonConfig): SloClasses {
  return sloClassesOf(config) ?? new SloClasses([ONLY_CLASS], ONLY_CLASS);
}

/**
 * The flow control of a configuration; undefined when every request proceeds at once.
 *
 * @throws UsageError when a user's own policy cannot be loaded
 */
export function flowControlSpec(config: BatonConfig): FlowControlSpec | undefined {
  const { flowControl: named } = config;
  if (named === 'none') return undefined;
  return {
    policy: isModulePath(named) ? ownPolicy<FlowPolicy>(named, 'pick') : named,
    limits: {
      perFlow: config.flowControlQueue,
      total: config.flowControlTotalQueue,
      timeoutUs: secondsToUs(config.flowControlTimeout),
    },
    concurrency: config.flowControlConcurrency,
  };
}
