import type { BatonConfig } from '@baton/config';
import type { BatonError } from '@baton/contract';
import type { AnswerHead, GenerationRequest } from '@baton/openai';
import { Inject, Injectable } from '@nestjs/common';
import { ClusterView } from '../../cluster/cluster-view';
import { ModelCatalog } from '../../cluster/model-catalog';
import { Aborter } from '../../frames/aborter';
import { SequenceTable } from '../../frames/sequence-table';
import { HttpAnswer } from '../../http/http-answer';
import { ORCA_HEADER, orcaHeader } from '../../http/orca-header';
import { ReaderWatch } from '../../http/streaming/reader-watch';
import { RateMeter } from '../../observers/live-page/rate-meter';
import { RequestMetrics } from '../../observers/metrics/request-metrics';
import { RequestRecorder } from '../../observers/recording/request-recorder';
import { WireTaps } from '../../observers/recording/wire-taps';
import { Timelines } from '../../observers/timelines/timelines';
import type { RequestSpan } from '../../observers/tracing/request-spans';
import { Legs } from '../../routers/legs';
import { CONFIG } from '../../tokens';
import { AdmissionGate } from '../admit/admission-gate';
import { FaultInjector } from '../faults/fault-injector';
import type { Admission } from '../take/request-intake';
import { Exchange, type ExchangeTools } from './exchange';
import { LiveExchanges } from './live-exchanges';

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
