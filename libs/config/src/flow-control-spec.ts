import {
  type FlowLimits,
  type FlowPolicy,
  type FlowPolicySpec,
  ONLY_CLASS,
  type SloClass,
  SloClasses,
} from '@baton/policies';
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
 * @throws UsageError when the default class, or that of an objective, is none of them
 */
export function buildSloClasses(config: BatonConfig): SloClasses | undefined {
  const all = Object.entries(config.sloClasses ?? {}).map(([name, row]) => classOf(name, row));
  const { sloDefaultClass: wanted = all[0]?.name } = config;
  const ordinary = all.find(({ name }) => name === wanted);
  const objectives = (config.sloObjectives ?? []).map((given) => objectiveOf(given, all));
  if (ordinary !== undefined) return new SloClasses(all, ordinary, objectives);
  if (wanted === undefined) return undefined;
  const known = all.length === 0 ? 'which is not set' : all.map(({ name }) => name).join(', ');
  throw new UsageError(`slo_default_class '${wanted}' is none of slo_classes: ${known}.`);
}

function classOf(name: string, row: Readonly<Record<string, number>>): SloClass {
  const { ttft, tpot, weight = 1, priority = 0 } = row;
  return {
    name,
    priority,
    weight,
    ...(ttft !== undefined && { ttftUs: msToUs(ttft) }),
    ...(tpot !== undefined && { tpotUs: msToUs(tpot) }),
  };
}

/** The name of an objective and its class. @param given `objective=class` */
function objectiveOf(given: string, all: readonly SloClass[]): readonly [string, SloClass] {
  const [objective = '', ...rest] = given.split('=');
  const wanted = rest.join('=');
  const found = all.find(({ name }) => name === wanted);
  if (objective !== '' && found !== undefined) return [objective, found];
  const known = all.map(({ name }) => name).join(', ') || 'none';
  throw new UsageError(
    `slo_objectives '${given}' must be objective=class, with a class of slo_classes: ${known}.`,
  );
}

/** The classes by which requests are queued: a single one when none is configured. */
export function queueingClasses(config: BatonConfig): SloClasses {
  return buildSloClasses(config) ?? new SloClasses([ONLY_CLASS], ONLY_CLASS);
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
