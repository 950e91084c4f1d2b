import type { ClusterScenario } from '@baton/simulation';
import { type BatonConfig, isModulePath, ownPolicy } from '@baton/config';
import { buildScheduling, type SchedulingPolicy } from '@baton/engine';
import {
  buildFlowPolicy,
  type FlowPolicy,
  type AdmissionPolicy,
  buildAdmission,
  buildPolicy,
  OwnScheduling,
  type Policy,
  type StagePolicySpec,
} from '@baton/policies';
import type { RandomStream } from '@baton/kernel';
import type { DecisionTimer } from './timed-policy';

/** A scenario, with a timer on the decisions of one kind of policy. */
export type TimedScenario = (
  scenario: ClusterScenario,
  parts: { readonly config: BatonConfig; readonly timer: DecisionTimer },
) => ClusterScenario;

export const timedPlacement: TimedScenario = ({ placement, ...scenario }, { timer }) => {
  const prefill = timedStage(placement.prefill, timer);
  const decode = timedStage(placement.decode, timer);
  return { ...scenario, placement: { ...placement, prefill, decode } };
};

export const timedDecodePlacement: TimedScenario = ({ placement, ...scenario }, { timer }) => {
  const decode = timedStage(placement.decode, timer);
  return { ...scenario, placement: { ...placement, decode } };
};

function timedStage(spec: StagePolicySpec, timer: DecisionTimer): StagePolicySpec {
  if (spec === 'pull') return spec;
  if (spec.kind === 'own') return timer.module<Policy, typeof spec>(spec, 'choose');
  return timer.builtIn<Policy>(spec.kind, ({ random }) => buildPolicy(spec, random), 'choose');
}

export const timedAdmission: TimedScenario = (scenario, { timer }) => {
  const { admission: spec } = scenario;
  if (spec === undefined) return scenario;
  if (spec.kind === 'own') {
    const admission = timer.module<AdmissionPolicy, typeof spec>(spec, 'admit');
    return { ...scenario, admission };
  }
  const create = ({ random }: { readonly random: RandomStream }): AdmissionPolicy => {
    const policyOf = buildAdmission(spec, random);
    return {
      admit: (context) => policyOf(context).admit(context),
      retryAfterUs: (context) => policyOf(context).retryAfterUs!(context),
    };
  };
  return { ...scenario, admission: timer.builtIn<AdmissionPolicy>(spec.kind, create, 'admit') };
};

export const timedFlowControl: TimedScenario = (scenario, { timer }) => {
  const { flowControl } = scenario;
  if (flowControl === undefined) return scenario;
  const { policy: spec, limits } = flowControl;
  const { timeoutUs } = limits;
  const policy =
    typeof spec === 'string'
      ? timer.builtIn<FlowPolicy>(
          spec,
          ({ random }) => buildFlowPolicy(spec, { timeoutUs, random }),
          'pick',
        )
      : timer.module<FlowPolicy, typeof spec>(spec, 'pick');
  return { ...scenario, flowControl: { ...flowControl, policy } };
};

export const timedScheduling: TimedScenario = ({ pools, ...scenario }, { config, timer }) => {
  const { schedulingPolicy: named, seed } = config;
  const own = isModulePath(named) && timer.module(ownPolicy<SchedulingPolicy>(named, 'key'), 'key');
  const timed = pools.map(({ options, ...pool }) => {
    const schedulingPolicy = own
      ? new OwnScheduling(own, { stage: pool.role, seed })
      : timer.policy(buildScheduling(options), 'key');
    return { ...pool, options: { ...options, schedulingPolicy } };
  });
  return { ...scenario, pools: timed };
};

export const timedScaling: TimedScenario = (scenario, { timer }) => {
  const { scaling } = scenario;
  if (scaling === undefined) return scenario;
  const create: typeof scaling.create = (watch) => timer.policy(scaling.create(watch), 'decide');
  return { ...scenario, scaling: { ...scaling, create } };
};
