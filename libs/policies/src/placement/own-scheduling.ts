import type { SchedulingPolicy, WaitingView } from '@baton/engine';
import { RandomStream } from '@baton/kernel';
import { Guarded, originOf, type OwnSpec, type PolicyWatch, STRICT } from './guarded';
import type { EngineRole } from './topology/topology';

export type OwnSchedulingSpec = OwnSpec<SchedulingPolicy>;

/**
 * Key of a sequence to which a user's policy gave none. It is after all keys of the policy, because
 * their scale is unknown; sequences with equal keys run in the order of submission.
 */
const LAST = Infinity;

/**
 * A user's own scheduling policy: the order of the waiting queue of every engine of a stage in this
 * process.
 */
export class OwnScheduling implements SchedulingPolicy {
  readonly resumesFirst: boolean;
  readonly preemptsLast: boolean;
  private readonly keys: Guarded<WaitingView, number>;
  private readonly ties: Guarded<WaitingView, number>;
  /** The newest sequence without a key, whose tie key does not count. */
  private keyless: WaitingView | undefined;

  /** @param watch counts the faults; by default the first one throws */
  constructor(
    private readonly spec: OwnSchedulingSpec,
    private readonly of: { readonly stage: EngineRole; readonly seed: number },
    watch: PolicyWatch = STRICT,
  ) {
    const { stage, seed } = of;
    const random = RandomStream.root(seed).stream(`scheduling ${stage}`);
    const own = spec.module.create({ stage, random });
    this.resumesFirst = own.resumesFirst === true;
    this.preemptsLast = own.preemptsLast === true;
    const from = originOf(spec, stage, own);
    const rule = { isAnswer: isFinite, expected: () => 'a finite number' };
    const askKey = (seq: WaitingView): unknown => own.key(viewOf(seq));
    this.keys = new Guarded({ ...rule, method: 'key', ask: askKey }, from, watch);
    const ask = (seq: WaitingView): unknown => own.tieKey?.(viewOf(seq)) ?? 0;
    this.ties = new Guarded({ ...rule, method: 'tieKey', ask }, from, watch);
  }

  key(sequence: WaitingView): number {
    const key = this.keys.answer(sequence);
    this.keyless = key === undefined ? sequence : undefined;
    return key ?? LAST;
  }

  tieKey(sequence: WaitingView): number {
    if (this.keyless === sequence) return 0;
    return this.ties.answer(sequence) ?? LAST;
  }

  /** A copy of the policy whose faults are counted. */
  watchedBy(watch: PolicyWatch): OwnScheduling {
    return new OwnScheduling(this.spec, this.of, watch);
  }
}

/**
 * The fields that a user's policy gets. The engine's own record of a sequence also has the output
 * length, which policies must not read.
 */
function viewOf(sequence: WaitingView): WaitingView {
  const { promptTokens, targetTokens, computed, priority, arrivalUs, adapter, order } = sequence;
  return { promptTokens, targetTokens, computed, priority, arrivalUs, adapter, order };
}

function isFinite(given: unknown): given is number {
  return Number.isFinite(given);
}

/** The options, with faults counted if their scheduling policy is the user's own. */
export function watchedScheduling<O extends { readonly schedulingPolicy: unknown }>(
  options: O,
  watch: PolicyWatch,
): O {
  const { schedulingPolicy: policy } = options;
  return policy instanceof OwnScheduling
    ? { ...options, schedulingPolicy: policy.watchedBy(watch) }
    : options;
}
