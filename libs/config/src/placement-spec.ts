import { msToUs } from '@baton/kernel';
import {
  type AdmissionPolicy,
  type AdmissionSpec,
  type PlacerSpec,
  type Policy,
  type StagePolicySpec,
  policySpecOf,
} from '@baton/policies';
import type { BatonConfig } from './config';
import { isModulePath } from './option';
import { ownPolicy } from './own-policy-file';
import { UsageError } from './usage-error';

/**
 * The placement of a configuration, for both clocks.
 *
 * @throws UsageError when a policy of the user's own cannot be loaded
 */
export function placerSpec(config: BatonConfig): PlacerSpec {
  const { policyMetricsInterval: intervalMs } = config;
  return {
    prefill: stageSpec(config, config.placement),
    decode: stageSpec(config, config.decodePlacement ?? config.placement),
    decodeChoice: config.decodeChoice,
    disaggregationThreshold: config.disaggregationThreshold,
    ...(intervalMs > 0 && { metricsIntervalUs: msToUs(intervalMs) }),
    fallback: policySpecOf(config.placementFallback, config),
  };
}

/** Whether any policy of a configuration is a module of the user's own. */
export function hasOwnPolicy(config: BatonConfig): boolean {
  const { placement, decodePlacement, admission, flowControl, schedulingPolicy } = config;
  const named = [placement, decodePlacement, admission, flowControl, schedulingPolicy];
  return [...named, config.scalePolicy].some((each) => isModulePath(each ?? ''));
}

function stageSpec(config: BatonConfig, named: BatonConfig['placement']): StagePolicySpec {
  if (named === 'pull') return named;
  return isModulePath(named) ? ownPolicy<Policy>(named, 'choose') : policySpecOf(named, config);
}

/**
 * The admission of a configuration, for both clocks; undefined when every request that fits the
 * queue is admitted.
 *
 * @throws UsageError when a policy of the user's own cannot be loaded, or one has no objective
 */
export function admissionSpec(config: BatonConfig): AdmissionSpec | undefined {
  const { admission, admissionSloTtft: sloMs } = config;
  const slo =
    sloMs === undefined ? undefined : ({ kind: 'slo-ttft', sloUs: msToUs(sloMs) } as const);
  if (admission === 'all') return undefined;
  if (admission !== undefined && isModulePath(admission)) {
    return { ...ownPolicy<AdmissionPolicy>(admission, 'admit'), ...(slo && { fallback: slo }) };
  }
  if (admission === 'slo-ttft' && slo === undefined) {
    if (config.sloClasses !== undefined) return { kind: 'slo-ttft', sloUs: Infinity };
    throw new UsageError('admission slo-ttft needs admission_slo_ttft or slo_classes.');
  }
  return slo;
}
