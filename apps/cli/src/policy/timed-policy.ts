import {
  buildPolicy,
  type OwnPolicySpec,
  type PlacerSpec,
  type Policy,
  type PolicySpec,
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
    const path = spec.kind === 'own' ? spec.path : spec.kind;
    const create: OwnPolicySpec['module']['create'] = (parts) => {
      return this.watched(spec.kind === 'own' ? spec.module.create(parts) : builtIn(spec, parts));
    };
    return { kind: 'own', path, module: { create } };
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

function builtIn(
  spec: PolicySpec,
  { random }: Parameters<OwnPolicySpec['module']['create']>[0],
): Policy {
  return buildPolicy(spec, random);
}
