import type { PolicyStage, PolicyWatch } from './guarded';

/** A decision of a router's policy. */
export interface PolicyDecision {
  readonly kind: 'placement' | 'admission' | 'flow-control';
  readonly stage: PolicyStage;
  /** The name of the policy. */
  readonly policy: string;
  readonly wallMs: number;
}

export interface CallTimer {
  readonly nowMs: () => number;
  readonly onCall: (wallMs: number) => void;
}

/** The policy with a timer on this method. A call that throws counts too. */
export function withTimer<P extends object>(
  policy: P,
  method: keyof P & string,
  { nowMs, onCall }: CallTimer,
): P {
  const plain = policy[method] as (...given: unknown[]) => unknown;
  const timed = (...given: unknown[]): unknown => {
    const beganMs = nowMs();
    try {
      return plain.apply(policy, given);
    } finally {
      onCall(nowMs() - beganMs);
    }
  };
  return Object.create(policy, { [method]: { value: timed } }) as P;
}

/** The policy of a router, which reports its decisions where the watch counts them. */
export function reported<P extends object>(
  policy: P,
  method: keyof P & string,
  of: Omit<PolicyDecision, 'wallMs'> & { readonly watch: PolicyWatch },
): P {
  const { watch, ...decision } = of;
  const { onDecision, nowMs } = watch;
  if (onDecision === undefined || nowMs === undefined) return policy;
  const onCall = (wallMs: number): void => onDecision({ ...decision, wallMs });
  return withTimer(policy, method, { nowMs, onCall });
}
