import { type Fault, RETURN_ERROR_HEADER } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { AdmitStep } from './admit';
import type { Admission, PlannedRequest, Routed } from './admit/admission';
import { ServeStep } from './serve';
import { FaultInjector } from './faults/fault-injector';
import { PlanStep } from './plan';
import { Refusals } from './refusals';
import { RouteStep } from './route';
import { TakeStep } from './take';
import type { Call } from './take/call';

const NO_FAULTS: readonly Fault[] = [];

/**
 * The way of a request. Only this file has the order of the steps. Each step is a file of this
 * folder, and a folder of its name has its parts:
 *
 *     take     what the body asks for           a refusal here is an HTTP error
 *     route    which engines each sequence may go to
 *     admit    flow control, policy, rates, the queue
 *     plan     the text of the answer          a failure here takes the admission back
 *     serve    jobs ─▶ engines ─ token frames (../frames) ─▶ exchange ─▶ answer/{stream,whole,…}
 *
 * What throws before `serve` becomes an HTTP error in `RefusalFilter`, which records it too.
 * After it the exchange owns the answer.
 */
@Injectable()
export class RequestWay {
  constructor(
    private readonly taking: TakeStep,
    private readonly routing: RouteStep,
    private readonly faults: FaultInjector,
    private readonly admitting: AdmitStep,
    private readonly planning: PlanStep,
    private readonly serving: ServeStep,
    private readonly refusals: Refusals,
  ) {}

  /** Resolves when the jobs are submitted; the exchange then continues by itself. */
  async answer(call: Call): Promise<void> {
    if (this.taking.plays) return this.taking.play(call);
    const checked = await this.taking.take(call);
    const routed = await this.routing.route(call, checked);
    const faults = await this.judgeFaults(routed);
    if (faults === undefined) return;
    const admission = await this.admitting.admit(routed, faults);
    await this.serving.serve(await this.plan(admission));
  }

  /** Undefined when a fault has cut the client's connection. */
  private async judgeFaults({ call, checked }: Routed): Promise<readonly Fault[] | undefined> {
    const { headers } = call.response.req;
    if (!this.faults.hasRules && headers[RETURN_ERROR_HEADER] === undefined) return NO_FAULTS;
    const faults = this.faults.judge(call, checked.request.model);
    if (await this.faults.atQueue(faults, call)) return faults;
    this.refusals.cutOff(call);
    return undefined;
  }

  private async plan(admission: Admission): Promise<PlannedRequest> {
    try {
      const plans = await this.planning.plan(admission);
      this.admitting.recheck(admission);
      return { ...admission, plans };
    } catch (error) {
      this.admitting.revoke(admission);
      throw error;
    }
  }
}
