import type { BatonConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import { Inject, Injectable } from '@nestjs/common';
import { SequenceTable } from '../frames/sequence-table';
import { type Charge, RateLimits } from '../http/access/rate-limits';
import { brokerError } from '../http/broker-error';
import { CONFIG } from '../tokens';
import type { Routed } from './admit/admission';
import { AdmissionGate } from './admit/admission-gate';
import { PolicyGate } from './admit/policy-gate';
import { OpenDoor } from './take/open-door';

/** Third step: lets a request in, or refuses it. The plan is made between its two parts. */
@Injectable()
export class AdmitStep {
  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    private readonly door: OpenDoor,
    private readonly policy: PolicyGate,
    private readonly limits: RateLimits,
    private readonly table: SequenceTable,
    private readonly gate: AdmissionGate,
  ) {}

  /**
   * Refuses requests that can never wait or come too late, before anything is planned for them.
   * Takes the tokens of the request from its caller's budget, where there is one.
   *
   * @throws BatonError `queue_full`, the refusal of the policy, or the error of a rate limit
   */
  async charge({ call, asked, routes }: Routed): Promise<Charge | undefined> {
    this.door.refuseWhenClosed();
    if (routes.length > this.config.maxWaitingRequests) throw new BatonError('queue_full');
    if (this.policy.isOn) this.policy.refuse(asked.request, routes);
    return this.limits.isOn ? this.limits.charge(call, asked.request) : undefined;
  }

  /** Counts the sequences of the request as waiting. @throws BatonError `queue_full` */
  async enter({ call: { response }, routes }: Routed): Promise<void> {
    this.door.refuseWhenClosed();
    const [first] = routes;
    if (!first || !this.table.hasRoom(routes.length)) throw new BatonError('queue_full');
    try {
      await this.gate.enter(first.stage, routes.length, first.next);
    } catch (error) {
      throw brokerError(error);
    }
    if (response.destroyed || !this.table.hasRoom(routes.length)) {
      this.gate.leave(first.stage, routes.length);
      throw new BatonError('queue_full');
    }
  }
}
