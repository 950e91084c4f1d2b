import { type OwnSpec, withTimer } from '@baton/policies';

/** Measures the time of a policy's decisions on the wall clock. */
export class DecisionTimer {
  private decisions = 0;
  private ms = 0;
  /** The policies' own methods, by those with a timer. */
  private readonly methods = new Map<unknown, unknown>();

  /**
   * Decisions per second of wall time. Null: no policy decides, as under `pull`, where engines take
   * jobs.
   */
  get perSecond(): number | null {
    return this.decisions === 0 || this.ms === 0 ? null : (1_000 * this.decisions) / this.ms;
  }

  /** A module whose policies have a timer on this method. */
  module<P extends object, Spec extends OwnSpec<P>>(
    spec: Spec & OwnSpec<P>,
    method: keyof P & string,
  ): Spec {
    const { module, placeOf } = spec;
    return {
      ...spec,
      module: { create: (parts) => this.policy(module.create(parts), method) },
      ...(placeOf && { placeOf: (timed) => placeOf(this.methods.get(timed) ?? timed) }),
    };
  }

  /** A built-in policy as such a module. */
  builtIn<P extends object>(
    name: string,
    create: OwnSpec<P>['module']['create'],
    method: keyof P & string,
  ): OwnSpec<P> {
    return this.module<P, OwnSpec<P>>({ kind: 'own', path: name, module: { create } }, method);
  }

  /** The policy with a timer on this method. */
  policy<P extends object>(policy: P, method: keyof P & string): P {
    const timed = withTimer(policy, method, {
      nowMs: () => performance.now(),
      onCall: (wallMs) => {
        this.decisions += 1;
        this.ms += wallMs;
      },
    });
    this.methods.set(timed[method], policy[method]);
    return timed;
  }
}
