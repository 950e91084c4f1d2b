import { BatonError, type Fault } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { SequenceTable } from '../sequences/sequence-table';
import { type Charge, RateLimits } from '../http/access/rate-limits';
import { brokerError } from '../http/broker-error';
import { CallClasses } from '../http/access/call-classes';
import type { Admission, Routed } from './admit/admission';
import { AdmissionGate } from './admit/admission-gate';
import { FlowGate } from './admit/flow-gate';
import { PolicyGate } from './admit/policy-gate';
import { AcceptingState } from './take/accepting-state';

/** Third step: admits or refuses a request, before anything is planned for it. */
@Injectable()
export class AdmitStep {
  constructor(
    private readonly accepting: AcceptingState,
    private readonly classes: CallClasses,
    private readonly flow: FlowGate,
    private readonly policy: PolicyGate,
    private readonly limits: RateLimits,
    private readonly table: SequenceTable,
    private readonly gate: AdmissionGate,
  ) {}

  /**
   * Waits for the turn of the request, takes its tokens from the caller's budget, if there is one,
   * and counts its sequences as waiting.
   *
   * @throws BatonError `queue_full`, the refusal of flow control or the policy, or the error of a
   *   rate limit
   */
  async admit(routed: Routed, faults: readonly Fault[]): Promise<Admission> {
    const charge = await this.charge(routed);
    try {
      await this.enter(routed);
      return { ...routed, charge, faults };
    } catch (error) {
      charge?.settle(0);
      throw error;
    }
  }

  /** Takes the admission of a request back that is not served. */
  revoke({ charge, routes }: Admission): void {
    charge?.settle(0);
    this.gate.leave(routes[0]!.stage, routes.length);
  }

  /** @throws BatonError when an admitted request cannot be served any more */
  recheck({ call: { response }, routes }: Admission): void {
    this.accepting.refuseWhenClosing();
    if (response.destroyed || !this.table.hasRoom(routes.length))
      throw new BatonError('queue_full');
  }

  /** Refuses a request that can never fit in the queue or would be too late. */
  private async charge({ call, checked, routes }: Routed): Promise<Charge | undefined> {
    this.accepting.refuseWhenClosing();
    if (!this.gate.canEverHold(routes.length)) throw new BatonError('queue_full');
    if (this.classes.isOn) this.classes.of(call);
    const pass = this.flow.isOn ? await this.flow.pass(call, checked.request) : undefined;
    try {
      if (this.policy.isOn) this.policy.refuse(call, checked.request, { routes, pass });
      const charge = this.limits.isOn ? await this.limits.charge(call, checked.request) : undefined;
      return pass === undefined ? charge : pass.with(charge);
    } catch (error) {
      pass?.settle(0);
      throw error;
    }
  }

  private async enter({ routes }: Routed): Promise<void> {
    const [first] = routes;
    if (!first || !this.table.hasRoom(routes.length)) throw new BatonError('queue_full');
    try {
      await this.gate.enter(first.stage, routes.length, first.next);
    } catch (error) {
      throw brokerError(error);
    }
  }
}
