import {
  buildPolicy,
  type OwnPolicySpec,
  type PlacerSpec,
  type Policy,
  type StagePolicySpec,
} from '@baton/placement';

/** Measures the time of policies' choices on the wall clock. */
export class ChoiceTimer {
  private choices = 0;
  private ms = 0;

  /**
   * Choices per second of wall time. Null: no policy chooses, as under `pull`, where engines take
   * jobs.
   */
  get perSecond(): number | null {
    return this.choices === 0 || this.ms === 0 ? null : (1_000 * this.choices) / this.ms;
  }

  /** The same placement, with a timer on every choice. */
  timed(spec: PlacerSpec): PlacerSpec {
    return { ...spec, prefill: this.stage(spec.prefill), decode: this.stage(spec.decode) };
  }

  private stage(spec: StagePolicySpec): StagePolicySpec {
    if (spec === 'pull') return spec;
    const isOwn = spec.kind === 'own';
    /** The policies' own methods, by those with a timer. */
    const methods = new Map<unknown, unknown>();
    const create: OwnPolicySpec['module']['create'] = (parts) => {
      const policy = isOwn ? spec.module.create(parts) : buildPolicy(spec, parts.random);
      const watched = this.watched(policy);
      methods.set(watched.choose, policy.choose);
      return watched;
    };
    const placeOf: OwnPolicySpec['placeOf'] = (method) =>
      isOwn ? spec.placeOf?.(methods.get(method)) : undefined;
    return { kind: 'own', path: isOwn ? spec.path : spec.kind, module: { create }, placeOf };
  }

  private watched(policy: Policy): Policy {
    return {
      choose: (context) => {
        const beganMs = performance.now();
        try {
          return policy.choose(context);
        } finally {
          this.choices += 1;
          this.ms += performance.now() - beganMs;
        }
      },
    };
  }
}
