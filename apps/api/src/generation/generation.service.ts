import { setTimeout as delay } from 'node:timers/promises';
import { BatonError, type Fault } from '@baton/contract';
import { type AnswerHead, type GenerationRequest, planSequence } from '@baton/openai';
import { chainBlockHashes } from '@baton/kernel';
import { type BatonConfig, entryQueue, type Logger } from '@baton/runtime';
import type { OutputPlan } from '@baton/text';
import type { Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { type Charge, RateLimits } from '../access/rate-limits';
import { AdmissionGate } from '../admission/admission-gate';
import { SloGate } from '../admission/slo-gate';
import { ClusterView } from '../cluster/cluster-view';
import { ModelCatalog } from '../cluster/model-catalog';
import { FaultInjector } from '../faults/fault-injector';
import { Executions } from '../executing/executions';
import { renderErrorAt } from '../http/error-renderer';
import { ORCA_HEADER, orcaHeader } from '../http/orca-header';
import { priorityOf } from '../http/priority-header';
import { HttpAnswer } from '../http/http-answer';
import { RequestMetrics } from '../metrics/request-metrics';
import { Player } from '../playing/player';
import { RequestRecorder } from '../recording/request-recorder';
import { WireTaps } from '../recording/wire-taps';
import { Aborter } from '../sequences/aborter';
import { SequenceTable } from '../sequences/sequence-table';
import { brokerError, Submitter } from '../sequences/submitter';
import { ReaderWatch } from '../streaming/reader-watch';
import { openedRequest, Timelines } from '../timelines/timelines';
import { type RequestSpan, RequestSpans } from '../tracing/request-spans';
import { type AnswerSources, Replies } from '../text-models/replies';
import { RateMeter } from '../ui/rate-meter';
import { API_IDENTITY, type ApiIdentity, CONFIG, LOGGER, TRANSPORT } from '../tokens';
import type { Asked } from './asked';
import type { Call } from './call';
import { Exchange, type ExchangeTools } from './exchange';
import { cacheSalt, JobFactory } from './job-factory';
import { JobPlacement } from './job-placement';
import type { Route } from './route';
import { KvCapacity } from './kv-capacity';
import { KvRelease } from './kv-release';
import type { SettledLeg } from './leg';
import { Legs } from './legs';
import { RoutePlanner } from './route-planner';

/** How often it is looked whether requests have ended. */
const SETTLED_CHECK_MS = 20;

/** A checked request on its way in. */
interface Admission {
  readonly call: Call;
  readonly asked: Asked;
  readonly leg: SettledLeg;
  readonly plans: readonly OutputPlan[];
  readonly routes: readonly Route[];
  /** What the caller has paid in advance. */
  readonly charge: Charge | undefined;
  /** What is to go wrong on purpose. */
  readonly faults: readonly Fault[];
}

/**
 * The way of a request: check, plan, choose a route, admit, submit, answer. Everything up to the submission may throw and becomes an HTTP error; after
 * that the exchange owns the answer.
 */
@Injectable()
export class GenerationService {
  private readonly live = new Set<Exchange>();
  private readonly tools: ExchangeTools;
  private isDraining = false;

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(TRANSPORT) private readonly transport: Transport,
    @Inject(API_IDENTITY) private readonly identity: ApiIdentity,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly catalog: ModelCatalog,
    private readonly cluster: ClusterView,
    private readonly routes: RoutePlanner,
    private readonly capacity: KvCapacity,
    private readonly release: KvRelease,
    private readonly legs: Legs,
    private readonly limits: RateLimits,
    private readonly gate: AdmissionGate,
    private readonly slo: SloGate,
    private readonly placement: JobPlacement,
    private readonly table: SequenceTable,
    private readonly submitter: Submitter,
    private readonly readers: ReaderWatch,
    private readonly recorder: RequestRecorder,
    private readonly taps: WireTaps,
    private readonly player: Player,
    private readonly executions: Executions,
    private readonly replies: Replies,
    private readonly timelines: Timelines,
    private readonly spans: RequestSpans,
    private readonly meter: RateMeter,
    private readonly faults: FaultInjector,
    metrics: RequestMetrics,
    aborter: Aborter,
  ) {
    this.tools = { table, gate, aborter, metrics, recorder, timelines, meter, faults };
  }

  /** Answers the call in full: when it resolves the jobs are submitted and the exchange goes on by itself. */
  async answer(call: Call): Promise<void> {
    try {
      await (this.player.isOn ? this.player.answer(call) : this.take(call));
    } catch (error) {
      if (error instanceof BatonError) this.refused(call, error);
      this.legs.refused(call);
      // A client may try again what was refused for a lack of room; what is wrong with the request stays wrong.
      if (error instanceof BatonError && error.entry.status <= 404) this.release.refused(call.body);
      throw error;
    }
  }

  private refused(call: Call, error: BatonError): void {
    this.recorder.refused(call, error.code);
    const tap = this.taps.tapFor(call);
    if (tap === undefined) return;
    const { status, headers, body } = renderErrorAt(call.message.url, error, this.config.dialect);
    tap.head(status, headers);
    tap.bytes(body);
    tap.end();
  }

  /** Answers that are not yet in the client's hands. */
  get liveRequests(): number {
    return this.live.size;
  }

  get isClosing(): boolean {
    return this.isDraining;
  }

  /** No new requests from now on; those under way go on. */
  drain(): void {
    this.isDraining = true;
  }

  /** Ends these requests, or all, with what they have got so far. Returns how many. */
  abort(names: readonly string[] | undefined): number {
    const meant = [...this.live].filter(
      (exchange) => names === undefined || names.some((name) => exchange.isNamed(name)),
    );
    for (const exchange of meant) exchange.abort();
    return meant.length;
  }

  /** Resolves when all that is under way now has ended. */
  async settled(): Promise<void> {
    const before = [...this.live];
    while (before.some((exchange) => this.live.has(exchange))) await delay(SETTLED_CHECK_MS);
  }

  /** Ends what is still under way. */
  endAll(): void {
    for (const exchange of this.live) exchange.fail(new BatonError('shutting_down'));
  }

  private async take(call: Call): Promise<void> {
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
      return;
    }
    this.refuseWhenClosed();
    // Before anything is planned for sequences that can never all wait.
    if (routes.length > this.config.maxWaitingRequests) throw new BatonError('queue_full');
    this.refuseLate(request, routes);
    const charge = this.limits.isOn ? await this.limits.charge(call, request) : undefined;
    try {
      const plans = this.plan(asked, routes, await this.replied(call, asked, routes));
      await this.admit({ call, asked, leg, plans, routes, charge, faults });
    } catch (error) {
      charge?.settle(0);
      throw error;
    }
  }

  private refuseWhenClosed(): void {
    if (this.isDraining) throw new BatonError('shutting_down');
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

  /** Nobody reads what a leg of an outside router or a pooling request says. */
  private async replied(
    call: Call,
    { request, isPooling }: Asked,
    [first]: readonly Route[],
  ): Promise<AnswerSources> {
    if (this.replies.isIdle || isPooling === true || first?.flow === 'hold') return [];
    const sources = await this.replies.to(call, request);
    this.refuseWhenClosed();
    return sources;
  }

  private plan(
    { request, isPooling, isExecuted }: Asked,
    routes: readonly Route[],
    sources: AnswerSources,
  ): OutputPlan[] {
    return routes.map((route, index) => {
      const at = Math.floor(index / request.choices);
      const prompt = request.prompts[at];
      const room = this.capacity.outputRoom(route, prompt?.ids.length ?? 0);
      const isPrefillLeg = route.flow === 'hold' || isPooling === true || isExecuted === true;
      const place = { index, room, isPrefillLeg, answers: sources[at] };
      return planSequence(request, place, this.catalog.plans);
    });
  }

  private async admit(admission: Admission): Promise<void> {
    const { call, routes } = admission;
    const first = routes[0];
    if (!first || !this.table.hasRoom(routes.length)) throw new BatonError('queue_full');
    try {
      await this.gate.enter(first.stage, routes.length, first.next);
    } catch (error) {
      throw brokerError(error);
    }
    if (call.response.destroyed || !this.table.hasRoom(routes.length)) {
      this.gate.leave(first.stage, routes.length);
      throw new BatonError('queue_full');
    }
    await this.submit(admission, first);
  }

  private async submit(admission: Admission, first: Route): Promise<void> {
    const { call, asked, plans, routes } = admission;
    const { request } = asked;
    const head = this.headOf(call, asked);
    const span = this.spans.open(call, head, request);
    const exchange = this.openExchange(admission, head, span);
    const factory = new JobFactory({
      request,
      answerId: head.id,
      arrivalUs: call.arrivalUs,
      apiId: this.identity.apiId,
      config: this.config,
      adapter: this.catalog.adapterOf(request.model),
      traceparent: span?.traceparent,
      executes: asked.isExecuted === true,
      priority: priorityOf(call.message.headers) ?? request.priority,
    });
    const jobs = exchange.openSequences(routes.length, (index, streamId) => {
      const plan = plans[index] as OutputPlan;
      const job = factory.job(index, streamId, { plan, route: routes[index] ?? first });
      const faults = this.faults.forEngines(admission.faults);
      return this.placement.place(faults.length === 0 ? job : { ...job, faults }, call);
    });
    for (const sequence of exchange.members) {
      sequence.waitingIn = first.stage;
      this.placement.opened(sequence);
      this.recorder.opened(sequence, call);
    }
    this.timelines.opened(exchange.members, openedRequest(call, head));
    this.meter.arrived(jobs.length);
    try {
      if (this.executions.isOn) await this.executions.keep(jobs, call);
      await Promise.all(jobs.map((job) => this.submitter.submit(entryQueue(job), [job])));
      exchange.admitted();
    } catch (error) {
      if (!(error instanceof BatonError)) this.logger.error({ err: error }, 'jobs not submitted');
      exchange.fail(error instanceof BatonError ? error : new BatonError('engine_error'));
    }
  }

  private openExchange(admission: Admission, head: AnswerHead, span?: RequestSpan): Exchange {
    const { response, takeOver, message } = admission.call;
    takeOver();
    const load = orcaHeader(message.headers, this.cluster.living());
    if (load !== undefined) response.setHeader(ORCA_HEADER, load);
    const { asked, call, leg, plans, charge } = admission;
    const http = new HttpAnswer(response, {
      dialect: this.config.dialect,
      isClosing: () => this.isDraining,
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
    this.live.add(exchange);
    response.once('close', () => {
      this.live.delete(exchange);
      exchange.clientLeft();
      charge?.settle(usedTokens(asked.request, exchange));
    });
    this.readers.watch(response, () => exchange.hangUpOnSlowReader());
    return exchange;
  }

  private headOf(call: Call, { request, answerId }: Asked): AnswerHead {
    const requestId = call.clientRequestId ?? request.requestId ?? call.requestId;
    return {
      id: answerId(requestId),
      created: Math.floor(call.arrivalUs / 1_000_000),
      model: request.model,
      systemFingerprint: this.catalog.systemFingerprint,
    };
  }
}

function usedTokens({ prompts }: GenerationRequest, { members }: Exchange): number {
  const prompt = prompts.reduce((sum, { ids }) => sum + ids.length, 0);
  return members.reduce((sum, { received }) => sum + received, prompt);
}
