import { admissionSpec } from '@baton/config';
import { BatonError, type Stage } from '@baton/contract';
import { chainBlockHashes, RandomStream } from '@baton/kernel';
import type { GenerationRequest } from '@baton/openai';
import {
  type AdmissionContext,
  type AdmissionPolicy,
  buildAdmission,
  type PolicyWatch,
  retryAfterSeconds,
} from '@baton/policies';
import type { JobRouting, PromptFacts } from '@baton/engine-host';
import { Inject, Injectable } from '@nestjs/common';
import { CallClasses } from '../../http/access/call-classes';
import { Config, POLICY_WATCH, ROUTING } from '../../tokens';
import { cacheSalt, type Route } from '../route/route';
import type { Call } from '../take/call';
import { AdmissionGate } from './admission-gate';
import type { FlowPass } from './flow-gate';

/** The targets of a request's class, and its wait so far. */
type Promised = Pick<AdmissionContext, 'waitedUs' | 'ttftTargetUs'>;
type Passed = Pick<FlowPass, 'waitedUs'> | undefined;

const US_PER_SECOND = 1_000_000;

/**
 * Calls the admission policy for each prompt. The default policy refuses a prompt whose first
 * token would come later than `admission_slo_ttft`, so that late requests do not delay the others.
 */
@Injectable()
export class PolicyGate {
  readonly isOn: boolean;
  private readonly policyOf: ((context: AdmissionContext) => AdmissionPolicy) | undefined;
  private readonly refusal: 'slo_unattainable' | 'admission_refused';
  private readonly usPerSecond: number;
  private totals: Readonly<Record<Stage, number>>;
  /** Prompts admitted since the totals were last read. */
  private admitted = 0;

  constructor(
    private readonly config: Config,
    @Inject(ROUTING) private readonly routing: JobRouting,
    private readonly gate: AdmissionGate,
    private readonly classes: CallClasses,
    @Inject(POLICY_WATCH) watch: PolicyWatch,
  ) {
    const spec = admissionSpec(config);
    const random = RandomStream.root(config.seed).stream('admission');
    this.policyOf = spec && buildAdmission(spec, random, watch);
    this.refusal = spec?.kind === 'own' ? 'admission_refused' : 'slo_unattainable';
    this.usPerSecond = US_PER_SECOND * config.speedup;
    this.isOn = spec !== undefined;
    this.totals = gate.waiting;
  }

  /**
   * Checks prompts for which the cluster chooses the engine.
   *
   * @throws BatonError `slo_unattainable`, or `admission_refused` by a policy of the user's own
   */
  refuse(
    call: Call,
    request: GenerationRequest,
    { routes: [first], pass }: { readonly routes: readonly Route[]; readonly pass: Passed },
  ): void {
    if (!first || first.flow === 'attach' || first.engineId !== undefined) return;
    const { blockSize, enablePrefixCaching } = this.config;
    const salt = cacheSalt(request);
    const { ttftUs: ttftTargetUs } = this.classes.of(call);
    const promise = { waitedUs: pass?.waitedUs ?? 0, ttftTargetUs };
    for (const { ids } of request.prompts) {
      const blockHashes = enablePrefixCaching ? chainBlockHashes(ids, blockSize, salt) : [];
      this.check(first.stage, { promptTokens: ids.length, blockHashes }, promise);
    }
  }

  /** `stage`: where the prompt is computed. */
  private check(stage: Stage, prompt: PromptFacts, promise: Promised): void {
    const facts = this.routing.observeForAdmission(stage, prompt, this.waitingIn(stage));
    const context = facts && { ...facts, ...promise };
    const policy = context && this.policyOf?.(context);
    if (!context || !policy || policy.admit(context)) {
      this.admitted += 1;
      return;
    }
    const delayUs = policy.retryAfterUs?.(context) ?? context.predictedTtftUs();
    const seconds = retryAfterSeconds(delayUs, this.usPerSecond);
    throw new BatonError(this.refusal, undefined, null, seconds);
  }

  private waitingIn(stage: Stage): number {
    const totals = this.gate.waiting;
    if (totals !== this.totals) {
      this.totals = totals;
      this.admitted = 0;
    }
    return totals[stage] + this.admitted;
  }
}
