import type { BatonError } from '@baton/contract';
import type { AnswerHead } from '@baton/openai';
import { Injectable } from '@nestjs/common';
import { ClusterView } from '../../cluster/cluster-view';
import { ModelCatalog } from '../../cluster/model-catalog';
import { HttpAnswer } from '../../http/http-answer';
import { nameSkippedTools } from '../../http/skipped-tools-header';
import { ORCA_ASK, ORCA_HEADER, orcaHeader } from '../../http/orca-header';
import { WireTaps } from '../../observers/recording/wire-taps';
import { Config } from '../../tokens';
import type { PlannedRequest } from '../admit/admission';
import type { Answer } from '../answer/answer';
import { FaultInjector } from '../faults/fault-injector';
import { AcceptingState } from '../take/accepting-state';

/** Takes the connection over from Fastify and opens the answer on it. */
@Injectable()
export class AnswerOpening {
  constructor(
    private readonly config: Config,
    private readonly accepting: AcceptingState,
    private readonly catalog: ModelCatalog,
    private readonly cluster: ClusterView,
    private readonly taps: WireTaps,
    private readonly faults: FaultInjector,
  ) {}

  /** The fields that every part of the answer has. */
  headOf({ call, checked }: PlannedRequest): AnswerHead {
    const { request, answerId } = checked;
    const requestId = call.clientRequestId ?? request.requestId ?? call.requestId;
    return {
      id: answerId(requestId),
      created: Math.floor(call.arrivalUs / 1_000_000),
      model: request.model,
      systemFingerprint: this.catalog.systemFingerprint,
    };
  }

  /** `fail` ends the whole request with an error, in the cluster too. */
  open(
    { call, checked, plans, faults }: PlannedRequest,
    head: AnswerHead,
    fail: (error: BatonError) => void,
  ): Answer {
    const { response, takeOver } = call;
    takeOver();
    const { skippedTools } = checked.request;
    if (skippedTools !== undefined) nameSkippedTools(response, skippedTools);
    if (call.message.headers[ORCA_ASK] !== undefined) this.showLoad(call);
    const http = new HttpAnswer(response, {
      dialect: this.config.dialect,
      isClosing: () => this.accepting.isClosing,
      tap: this.taps.isOn ? this.taps.tapFor(call) : undefined,
    });
    const answer = checked.answer({ http, head, plans, options: this.catalog.answerOptions });
    if (faults.length === 0) return answer;
    const parts = { http, response, isStream: checked.request.stream, fail };
    return this.faults.around(answer, faults, parts);
  }

  /** Adds the load of the cluster for load balancers. */
  private showLoad({ message, response }: PlannedRequest['call']): void {
    const load = orcaHeader(message.headers, this.cluster.living());
    if (load !== undefined) response.setHeader(ORCA_HEADER, load);
  }
}
