import type { BatonConfig } from '@baton/config';
import type { BatonError } from '@baton/contract';
import type { AnswerHead, GenerationRequest } from '@baton/openai';
import { Inject, Injectable } from '@nestjs/common';
import { AdmissionGate } from '../admission/admission-gate';
import { ClusterView } from '../cluster/cluster-view';
import { ModelCatalog } from '../cluster/model-catalog';
import { FaultInjector } from '../faults/fault-injector';
import { HttpAnswer } from '../http/http-answer';
import { ORCA_HEADER, orcaHeader } from '../http/orca-header';
import { RequestMetrics } from '../metrics/request-metrics';
import { RequestRecorder } from '../recording/request-recorder';
import { WireTaps } from '../recording/wire-taps';
import { Aborter } from '../sequences/aborter';
import { SequenceTable } from '../sequences/sequence-table';
import { ReaderWatch } from '../streaming/reader-watch';
import { Timelines } from '../timelines/timelines';
import { CONFIG } from '../tokens';
import type { RequestSpan } from '../tracing/request-spans';
import { RateMeter } from '../ui/rate-meter';
import { Exchange, type ExchangeTools } from './exchange';
import { Legs } from './legs';
import { LiveExchanges } from './live-exchanges';
import type { Admission } from './request-intake';

/** Takes the connection over from Fastify, and ties the answer on it to the exchange that will write it. */
@Injectable()
export class ExchangeOpener {
  private readonly tools: ExchangeTools;

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    private readonly catalog: ModelCatalog,
    private readonly cluster: ClusterView,
    private readonly legs: Legs,
    private readonly taps: WireTaps,
    private readonly faults: FaultInjector,
    private readonly readers: ReaderWatch,
    private readonly live: LiveExchanges,
    table: SequenceTable,
    gate: AdmissionGate,
    aborter: Aborter,
    metrics: RequestMetrics,
    recorder: RequestRecorder,
    timelines: Timelines,
    meter: RateMeter,
  ) {
    this.tools = { table, gate, aborter, metrics, recorder, timelines, meter, faults };
  }

  open(admission: Admission, head: AnswerHead, span?: RequestSpan): Exchange {
    const { response, takeOver, message } = admission.call;
    takeOver();
    const load = orcaHeader(message.headers, this.cluster.living());
    if (load !== undefined) response.setHeader(ORCA_HEADER, load);
    const { asked, call, leg, plans } = admission;
    const http = new HttpAnswer(response, {
      dialect: this.config.dialect,
      isClosing: () => this.live.isClosing,
      tap: this.taps.tapFor(call),
    });
    const answer = asked.answer({ http, head, plans, options: this.catalog.answerOptions });
    const parts = { http, response, isStream: asked.request.stream };
    const fail = (error: BatonError): void => exchange.fail(error);
    const shown = this.faults.around(answer, admission.faults, { ...parts, fail });
    const exchange: Exchange = new Exchange(this.tools, shown, {
      hangUp: () => response.destroy(),
      choices: asked.request.choices,
      span,
      heldAs: this.legs.heldAs(leg),
      names: [head.id, call.requestId],
    });
    this.follow(exchange, admission);
    return exchange;
  }

  /** To the end of the connection. */
  private follow(exchange: Exchange, { call: { response }, asked, charge }: Admission): void {
    this.live.add(exchange);
    response.once('close', () => {
      this.live.delete(exchange);
      exchange.clientLeft();
      charge?.settle(usedTokens(asked.request, exchange));
    });
    this.readers.watch(response, () => exchange.hangUpOnSlowReader());
  }
}

function usedTokens({ prompts }: GenerationRequest, { members }: Exchange): number {
  const prompt = prompts.reduce((sum, { ids }) => sum + ids.length, 0);
  return members.reduce((sum, { received }) => sum + received, prompt);
}
