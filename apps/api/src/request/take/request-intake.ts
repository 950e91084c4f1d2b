import type { BatonConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import { chainBlockHashes } from '@baton/kernel';
import type { GenerationRequest } from '@baton/openai';
import type { Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { brokerError } from '../../cluster/submitter';
import { SequenceTable } from '../../frames/sequence-table';
import { RateLimits } from '../../http/access/rate-limits';
import { Legs } from '../../routers/legs';
import { CONFIG, TRANSPORT } from '../../tokens';
import type { Admission } from '../admission';
import { AdmissionGate } from '../admit/admission-gate';
import { SloGate } from '../admit/slo-gate';
import { cacheSalt } from '../dispatch/job-factory';
import { LiveExchanges } from '../exchange/live-exchanges';
import { Executions } from '../executed/executions';
import { FaultInjector } from '../faults/fault-injector';
import { OutputPlanner } from '../plan/output-planner';
import type { Route } from '../route/route';
import { RoutePlanner } from '../route/route-planner';
import type { Asked } from './asked';
import type { Call } from './call';

/** What becomes of a request before it is anybody's work: check, choose routes, refuse, charge, plan, let in. */
@Injectable()
export class RequestIntake {
  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(TRANSPORT) private readonly transport: Transport,
    private readonly catalog: ModelCatalog,
    private readonly executions: Executions,
    private readonly legs: Legs,
    private readonly routes: RoutePlanner,
    private readonly faults: FaultInjector,
    private readonly slo: SloGate,
    private readonly limits: RateLimits,
    private readonly outputs: OutputPlanner,
    private readonly table: SequenceTable,
    private readonly gate: AdmissionGate,
    private readonly live: LiveExchanges,
  ) {}

  /** Undefined: a fault has ended the call already. @throws BatonError for a request that is refused */
  async take(call: Call): Promise<Admission | undefined> {
    this.refuseWhenClosed();
    const { limits } = this.catalog;
    const asked = this.executions.answers
      ? this.executions.ask(call, limits)
      : call.ask(call.body, limits);
    const { request } = asked;
    const leg = await this.legs.settle(call, request.kvTransferParams);
    const routes = asked.isPooling
      ? this.routes.planPooling(request, call.engineId)
      : this.routes.plan(request, call.engineId, leg);
    const faults = this.faults.judge(call, request.model);
    if (!(await this.faults.atQueue(faults, call))) {
      this.legs.refused(call);
      return undefined;
    }
    this.refuseWhenClosed();
    // Before anything is planned for sequences that can never all wait.
    if (routes.length > this.config.maxWaitingRequests) throw new BatonError('queue_full');
    this.refuseLate(request, routes);
    return this.charged({ call, asked, leg, routes, faults });
  }

  private async charged(checked: Omit<Admission, 'plans' | 'charge'>): Promise<Admission> {
    const { call, asked, routes } = checked;
    const charge = this.limits.isOn ? await this.limits.charge(call, asked.request) : undefined;
    try {
      const plans = await this.outputs.plan(call, asked, routes);
      this.refuseWhenClosed();
      await this.letIn(call, routes);
      return { ...checked, plans, charge };
    } catch (error) {
      charge?.settle(0);
      throw error;
    }
  }

  private refuseWhenClosed(): void {
    if (this.live.isClosing) throw new BatonError('shutting_down');
    if (!this.transport.isConnected) throw new BatonError('broker_unavailable');
  }

  /** Of prompts that are to be computed wherever the cluster likes. */
  private refuseLate(request: GenerationRequest, [first]: readonly Route[]): void {
    if (!this.slo.isOn || !first || first.flow === 'attach' || first.engineId !== undefined) return;
    const { blockSize, enablePrefixCaching } = this.config;
    for (const { ids } of request.prompts) {
      const hashes = enablePrefixCaching
        ? chainBlockHashes(ids, blockSize, cacheSalt(request))
        : [];
      this.slo.check(first.stage, { promptTokens: ids.length, blockHashes: hashes });
    }
  }

  private async letIn({ response }: Call, routes: readonly Route[]): Promise<void> {
    const first = routes[0];
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
