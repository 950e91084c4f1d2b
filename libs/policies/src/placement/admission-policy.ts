import { assert, type Micros, type RandomStream } from '@baton/kernel';
import {
  Guarded,
  originOf,
  type OwnPolicyParts,
  type OwnSpec,
  type PolicyWatch,
  specName,
  STRICT,
} from './guarded';
import { promptOnly } from './own-policy';
import type { PlacementContext } from './policy';
import { reported } from './timed-policy';

/** The router's view of the stage that would compute the prompt. */
export interface AdmissionContext extends PlacementContext {
  /** Requests that wait for the stage. */
  readonly waitingRequests: number;
  /** Time that the request has waited for flow control. Default: 0. */
  readonly waitedUs?: Micros;
  /** The TTFT target of its SLO class. Unset when the class has none. */
  readonly ttftTargetUs?: Micros | undefined;
  /** The predicted TTFT of the request from now on: see `predictTtftUs`. */
  predictedTtftUs(): Micros;
}

/** Admits requests, or refuses them with 429; the same object serves both clocks. */
export interface AdmissionPolicy {
  admit(context: AdmissionContext): boolean;
  /** After a refusal: the time until a client should retry. Unset: the predicted TTFT. */
  retryAfterUs?(context: AdmissionContext): Micros;
}

/** Refuses a request whose SLO is already lost, so that it does not delay others. */
export interface SloAdmissionSpec {
  readonly kind: 'slo-ttft';
  /** TTFT target for requests whose class has none, > 0. */
  readonly sloUs: Micros;
}

/** `fallback` decides when a user's own policy does not; unset: the request is admitted. */
export type AdmissionSpec =
  SloAdmissionSpec | (OwnSpec<AdmissionPolicy> & { readonly fallback?: SloAdmissionSpec });

class SloAdmission implements AdmissionPolicy {
  constructor(private readonly sloUs: Micros) {
    assert(sloUs > 0, `a TTFT to be kept is positive: ${sloUs}`);
  }

  admit(context: AdmissionContext): boolean {
    return this.excessUs(context) <= 0;
  }

  /** The excess drains at one simulated second per second. */
  retryAfterUs(context: AdmissionContext): Micros {
    return this.excessUs(context);
  }

  private excessUs(context: AdmissionContext): Micros {
    const { waitedUs = 0, ttftTargetUs = this.sloUs } = context;
    return waitedUs + context.predictedTtftUs() - ttftTargetUs;
  }
}

const ADMIT_ALL: AdmissionPolicy = { admit: () => true };

/** A user's own admission policy, with a built-in one as fallback. */
class OwnAdmission implements AdmissionPolicy {
  private readonly verdicts: Guarded<AdmissionContext, boolean>;
  private readonly delays: Guarded<AdmissionContext, number>;

  constructor(
    spec: OwnSpec<AdmissionPolicy>,
    parts: OwnPolicyParts,
    private readonly fallback: AdmissionPolicy,
    watch: PolicyWatch,
  ) {
    const own = spec.module.create(parts);
    const from = originOf(spec, parts.stage, own);
    this.verdicts = new Guarded(
      {
        method: 'admit',
        ask: (context) => own.admit(promptOnly(context)),
        isAnswer: (given) => typeof given === 'boolean',
        expected: () => 'true or false',
      },
      from,
      watch,
    );
    this.delays = new Guarded(
      {
        method: 'retryAfterUs',
        ask: (context) => own.retryAfterUs?.(promptOnly(context)) ?? context.predictedTtftUs(),
        isAnswer: (given): given is number => Number.isFinite(given) && Number(given) >= 0,
        expected: () => 'a number from 0',
      },
      from,
      watch,
    );
  }

  admit(context: AdmissionContext): boolean {
    return this.verdicts.answer(context) ?? this.fallback.admit(context);
  }

  retryAfterUs(context: AdmissionContext): Micros {
    return this.delays.answer(context) ?? context.predictedTtftUs();
  }
}

/**
 * The admission of one router: a policy for each stage that computes prompts.
 *
 * @param watch counts the faults of a user's own policies; default: the first one throws
 */
export function buildAdmission(
  spec: AdmissionSpec,
  random: RandomStream,
  watch: PolicyWatch = STRICT,
): (context: AdmissionContext) => AdmissionPolicy {
  const of = (stage: 'prefill' | 'aggregated'): AdmissionPolicy => {
    const policy = buildAdmissionPolicy(spec, { stage, random: random.stream(stage) }, watch);
    const named = { kind: 'admission', stage, policy: specName(spec), watch } as const;
    return reported(policy, 'admit', named);
  };
  const policies = { prefill: of('prefill'), aggregated: of('aggregated') };
  return ({ stage }) => policies[stage === 'aggregated' ? stage : 'prefill'];
}

function buildAdmissionPolicy(
  spec: AdmissionSpec,
  parts: OwnPolicyParts,
  watch: PolicyWatch,
): AdmissionPolicy {
  if (spec.kind === 'slo-ttft') return new SloAdmission(spec.sloUs);
  const fallback = spec.fallback ? new SloAdmission(spec.fallback.sloUs) : ADMIT_ALL;
  return new OwnAdmission(spec, parts, fallback, watch);
}
