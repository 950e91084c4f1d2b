import { type BatonConfig, scaleBounds, UsageError } from '@baton/config';
import { SCHEDULING_NAMES } from '@baton/engine';
import {
  FLOW_POLICY_KINDS,
  formatTopology,
  POLICY_KINDS,
  type PolicyDecision,
} from '@baton/policies';
import type { Stage } from '@baton/contract';
import {
  timedAdmission,
  timedDecodePlacement,
  timedFlowControl,
  timedPlacement,
  timedScaling,
  type TimedScenario,
  timedScheduling,
} from './timed-scenarios';

/** The options by which a policy is chosen, by their keys in the configuration. */
type PolicyOption =
  | 'placement'
  | 'decodePlacement'
  | 'admission'
  | 'flowControl'
  | 'schedulingPolicy'
  | 'scalePolicy'
  | 'autoscaler';

/** A policy of a comparison, and the options that choose it. */
export interface PolicyChoice {
  readonly name: string;
  readonly options: Readonly<Partial<Record<PolicyOption | 'min' | 'topology', string>>>;
}

/** Columns of figures that policies of only some kinds change. */
export type KindColumn = 'in SLO' | 'hits' | 'imbalance' | 'refused' | 'preempted' | 'GPU-hours';

export interface LiveDecisions {
  readonly kind: PolicyDecision['kind'];
  /** Unset: of every stage. */
  readonly stage?: Stage;
}

/** A decision of the cluster that a user's module can make. */
export interface PolicyKind {
  /** The option that names a module. */
  readonly option: PolicyOption;
  /** Another option for the same decision. */
  readonly other?: PolicyOption;
  readonly builtIn: (config: BatonConfig) => readonly PolicyChoice[];
  readonly columns: readonly KindColumn[];
  /** Its decisions in the metrics of the API. Unset: other processes decide. */
  readonly live?: LiveDecisions;
  readonly timed: TimedScenario;
}

/** Autoscalers that need no argument and do not know the future. */
const AUTOSCALERS = ['hpa:ttft', 'keda', 'wva', 'wva-tokens', 'sla', 'sla-load'];

const KINDS = {
  placement: {
    option: 'placement',
    other: 'decodePlacement',
    builtIn: () => named('placement', ['pull', ...POLICY_KINDS]),
    columns: ['hits', 'imbalance'],
    timed: timedPlacement,
    live: { kind: 'placement' },
  },
  'decode-placement': {
    option: 'decodePlacement',
    builtIn: () => named('decodePlacement', ['pull', ...POLICY_KINDS]),
    columns: ['hits', 'imbalance'],
    timed: timedDecodePlacement,
    live: { kind: 'placement', stage: 'decode' },
  },
  admission: {
    option: 'admission',
    builtIn: (config) => named('admission', hasTarget(config) ? ['all', 'slo-ttft'] : ['all']),
    columns: ['in SLO', 'refused'],
    timed: timedAdmission,
    live: { kind: 'admission' },
  },
  'flow-control': {
    option: 'flowControl',
    builtIn: () => named('flowControl', ['none', ...FLOW_POLICY_KINDS]),
    columns: ['in SLO', 'refused'],
    timed: timedFlowControl,
    live: { kind: 'flow-control' },
  },
  scheduling: {
    option: 'schedulingPolicy',
    builtIn: () => named('schedulingPolicy', SCHEDULING_NAMES),
    columns: ['in SLO', 'preempted'],
    timed: timedScheduling,
  },
  scaling: {
    option: 'scalePolicy',
    other: 'autoscaler',
    builtIn: (config) => [...fixedSplits(config), ...named('autoscaler', AUTOSCALERS)],
    columns: ['in SLO', 'GPU-hours'],
    timed: timedScaling,
  },
} as const satisfies Readonly<Record<string, PolicyKind>>;

export type PolicyKindName = keyof typeof KINDS;

/** Every kind of policy, by its name in `--kind`. */
export const KINDS_OF_POLICIES: Readonly<Record<PolicyKindName, PolicyKind>> = KINDS;

/** @throws UsageError */
export function policyKindNamed(given: string): PolicyKindName {
  if (given in KINDS) return given as PolicyKindName;
  throw new UsageError(`--kind must be one of ${Object.keys(KINDS).join(', ')}, not '${given}'.`);
}

/** The configuration under which a policy of a comparison decides. */
export function configUnder(
  { option, other }: PolicyKind,
  { options }: PolicyChoice,
  config: BatonConfig,
): BatonConfig {
  const unset = { [option]: undefined, ...(other && { [other]: undefined }) };
  return { ...config, ...unset, ...options } as BatonConfig;
}

function named(option: PolicyOption, names: readonly string[]): PolicyChoice[] {
  return names.map((name) => ({ name, options: { [option]: name } }));
}

function hasTarget({ admissionSloTtft, sloClasses }: BatonConfig): boolean {
  return admissionSloTtft !== undefined || sloClasses !== undefined;
}

/** The engines of either bound, all the time. */
function fixedSplits(config: BatonConfig): readonly PolicyChoice[] {
  const { min, max } = scaleBounds(config)!;
  return [min, max].map(formatTopology).map((topology) => ({
    name: `static ${topology}`,
    options: { autoscaler: `schedule:0h=${topology}`, min: topology, topology },
  }));
}
