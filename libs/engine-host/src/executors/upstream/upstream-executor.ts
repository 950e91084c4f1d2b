import { LiveClock } from '@baton/clock';
import {
  emptyFrameEntry,
  type EngineMessage,
  type ExecutedRequest,
  type KvTransferParams,
  type LegFailure,
  submissionOf,
} from '@baton/contract';
import type { Incoming } from '@baton/policies';
import type { HandoffRecord } from '@baton/transport';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { FailedFetches } from '../../decode/failed-fetches';
import { EXECUTED, Handoff, type HeldPrompt } from '../../prefill/handoff';
import { Endings } from '../../run/endings/endings';
import { endQuietly } from '../../run/engine/end-quietly';
import { EngineIdentity } from '../../run/engine/engine-identity';
import { EngineSlot } from '../../run/engine/engine-slot';
import { Mailbox } from '../../run/engine/mailbox';
import type { Executor, ExecutorNumbers } from '../../run/jobs/executor';
import { Frames } from '../../run/runs/frames';
import { KeptPayloads } from '../../run/runs/kept-payloads';
import { isRunOver, type Run, RunTable } from '../../run/runs/run';
import { HostOptions, Ledger, Log } from '../../run/tokens';
import { LegTally } from '../metrics/leg-tally';
import { MetricsScrape } from '../metrics/metrics-scrape';
import { type Body, JsonObjectText } from '../server/json-object-text';
import { eventsIn } from '../server/sse-reader';
import {
  DONE_DATA,
  refuseError,
  upstreamBody,
  UpstreamLost,
  UpstreamRefusal,
  type UpstreamServer,
  wholeText,
} from '../server/upstream-server';
import { FINISH_REASON, reasonIn } from './finish-reason';
import { hasTransfer, isSpent, type PrefillSource, sourceIn } from './handed-over';
import { HealthWatch } from './health-watch';
import type { IdleEngine } from './idle-engine';
import { type ClientRequest, type KvConnector } from './kv-connector';
import { PairedEnd } from './paired-end';

const LOST_CODES = {
  unreachable: 'upstream_lost',
  timeout: 'upstream_timeout',
  cut: 'upstream_lost',
  garbled: 'upstream_garbled',
} as const satisfies Readonly<Record<UpstreamLost['why'], LegFailure['code']>>;

/** The server of an engine. */
export class Upstream {
  constructor(
    readonly server: UpstreamServer,
    readonly connector: KvConnector,
    /** Minimum interval between two readings of the server's metrics, in ms. */
    readonly metricsEveryMs: number,
    /** Stands in the place of the simulated engine. */
    readonly engine: IdleEngine,
  ) {}
}

/** The server's work for one run. */
interface ActiveLeg {
  readonly controller: AbortController;
  /** On decode: the prefill run whose leg is under way at the same time. */
  readonly source: PrefillSource | undefined;
  /** On prefill: whether decode already has the request. */
  isPaired: boolean;
  /** On decode: whether its server gets the location of the KV. */
  fetches: boolean;
}

/**
 * Runs the jobs of one engine on an upstream server. Queues, hand-over, recovery and answers are
 * the same as for a simulated engine. One client never gets the beginning of two upstream texts: a
 * failure before the first token is retried elsewhere with a new prefill, and a later failure ends
 * the answer.
 */
@Injectable()
export class UpstreamExecutor implements Executor, BeforeApplicationShutdown {
  private readonly legs = new Map<Run, ActiveLeg>();
  private readonly server: UpstreamServer;
  private readonly connector: KvConnector;
  private readonly health: HealthWatch;
  private readonly metrics: MetricsScrape;
  private readonly tally = new LegTally();
  private readonly entry = emptyFrameEntry();

  constructor(
    private readonly identity: EngineIdentity,
    private readonly options: HostOptions,
    private readonly ledger: Ledger,
    private readonly clock: LiveClock,
    private readonly slot: EngineSlot,
    private readonly runs: RunTable,
    private readonly frames: Frames,
    private readonly endings: Endings,
    private readonly failed: FailedFetches,
    private readonly handoff: Handoff,
    private readonly mailbox: Mailbox,
    private readonly pairedEnd: PairedEnd,
    private readonly log: Log,
    { server, connector, metricsEveryMs, engine }: Upstream,
  ) {
    engine.running = () => runs.size;
    this.metrics = new MetricsScrape(server, metricsEveryMs);
    this.server = server;
    this.connector = connector;
    this.health = new HealthWatch({ server, connector, log });
  }

  open(onState: (isUp: boolean) => void): void {
    this.health.start(onState);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.health.stop();
    for (const { controller } of this.legs.values()) controller.abort();
    await endQuietly(this.server.close(), this.log);
  }

  /** Zero while the server is down. */
  roomLeft({ sequences }: Incoming): number {
    if (!this.health.isUp) return 0;
    return this.options.facts.maxNumSeqs - this.legs.size - sequences;
  }

  start(run: Run, handoff: HandoffRecord | undefined): void {
    const leg = {
      controller: new AbortController(),
      source: sourceIn(handoff),
      isPaired: false,
      fetches: false,
    };
    this.legs.set(run, leg);
    run.isScheduled = true;
    this.publishState(run, 'scheduled');
    this.execute(run, handoff, leg)
      .catch((error: unknown) => this.onFailure(run, leg, error))
      .finally(() => this.legs.delete(run));
  }

  cancel(run: Run): void {
    this.legs.get(run)?.controller.abort();
    this.legs.delete(run);
  }

  pairedRuns(): readonly Run[] {
    return [...this.legs].filter(([, leg]) => leg.isPaired).map(([run]) => run);
  }

  sources(): readonly string[] {
    return [...new Set([...this.legs.values()].flatMap(({ source }) => source?.engineId ?? []))];
  }

  onSourceLost(engineId: string): void {
    for (const [run, { source }] of this.legs) {
      if (source?.engineId === engineId && run.emitted === 0) this.beginAnew(run);
    }
  }

  metricsPage(): Promise<string> {
    return this.metrics.page();
  }

  numbers(): ExecutorNumbers {
    return { isUp: this.health.isUp, counters: this.tally.counters() };
  }

  onLegOver({ requestId, epoch, failure }: Extract<EngineMessage, { kind: 'leg-over' }>): void {
    const run = this.runs.get(requestId);
    const leg = run && this.legs.get(run);
    if (run === undefined || leg === undefined) return;
    if (failure === undefined) {
      if (leg.isPaired && run.epoch === epoch) this.endings.end(run, 'drop');
      return;
    }
    // A leg that has begun to answer has already used its prompt.
    if (leg.source?.epoch !== epoch || run.emitted > 0) return;
    if (this.pairedEnd.isFinal(failure)) this.pairedEnd.fail(run, failure);
    else this.beginAnew(run);
  }

  private async execute(
    run: Run,
    handoff: HandoffRecord | undefined,
    leg: ActiveLeg,
  ): Promise<void> {
    const stored = await this.ledger.getPrompt(run.job.requestId);
    if (isRunOver(run)) return;
    if (stored === undefined) {
      this.endings.failRequest(run, 'engine_error');
      return;
    }
    const { text, ...fields } = JSON.parse(stored.toString()) as ExecutedRequest;
    const request = { ...fields, body: new JsonObjectText(text) };
    if (run.stage === 'prefill') await this.prefill(run, request, leg);
    else if (run.stage === 'decode' && isSpent(run, handoff)) this.beginAnew(run);
    else {
      const { signal } = leg.controller;
      const params = this.takeParams(run, handoff);
      leg.fetches = params !== undefined;
      const generation = { request, params, signal };
      const last = await this.tally.leg(signal, () => this.generate(run, generation));
      if (last !== undefined && !isRunOver(run)) this.complete(run, last);
    }
  }

  private async prefill(run: Run, request: ClientRequest, leg: ActiveLeg): Promise<void> {
    const prefill = this.connector.prefillLeg(request);
    const { early } = prefill;
    if (early !== undefined && !(await this.handOverEarly(run, leg, early))) return;
    const { signal } = leg.controller;
    const answer = await this.tally.leg(signal, () =>
      this.server.request({ ...prefill, request, signal }),
    );
    this.health.succeeded();
    const params = prefill.decodeLegParams(answer);
    if (isRunOver(run)) return;
    if (leg.isPaired) {
      this.endings.end(run, 'handOn');
      return;
    }
    run.state = 'moving-on';
    await this.handoff.pass(run, this.held(params));
  }

  /**
   * Hands over before this leg begins, with the location of the prefill run. False: the run is
   * over.
   */
  private async handOverEarly(run: Run, leg: ActiveLeg, params: Body): Promise<boolean> {
    run.state = 'moving-on';
    const held = { ...this.held(params), prefillEngineId: this.identity.engineId };
    leg.isPaired = await this.handoff.offer(run, held);
    return leg.isPaired;
  }

  private held(params: Body | undefined): HeldPrompt {
    const heldUs = this.clock.wall.nowUs();
    return { params: (params ?? {}) as unknown as KvTransferParams, generation: EXECUTED, heldUs };
  }

  /** The end reason of the answer. Undefined: the run ended before. */
  private async generate(
    run: Run,
    { request, params, signal }: Generation,
  ): Promise<string | undefined> {
    const body = this.connector.decodeBody(request.body, params);
    const answer = await this.server.post({ request, body, signal });
    this.health.succeeded();
    const isStream = request.body.valueOf('stream') === 'true';
    return isStream ? this.stream(run, answer) : this.whole(run, answer);
  }

  /**
   * The parameters in the answer of an upstream prefill. A simulated prefill holds no KV that a
   * server can read, so its blocks are released.
   */
  private takeParams(run: Run, handoff: HandoffRecord | undefined): Body | undefined {
    if (handoff === undefined) return undefined;
    const { params, generation } = handoff;
    if (generation === EXECUTED) return hasTransfer(handoff) ? { ...params } : undefined;
    const from = this.identity.engineId;
    const { requestId } = run.job;
    const message = { kind: 'release', from, requestId, generation } as const;
    this.mailbox.send(params.remote_engine_id ?? '', message);
    return undefined;
  }

  private async whole(run: Run, answer: AsyncIterable<Uint8Array>): Promise<string | undefined> {
    const text = await wholeText(answer);
    upstreamBody(text);
    if (isRunOver(run)) return undefined;
    this.publishEvent(run, text);
    return text;
  }

  private async stream(run: Run, answer: AsyncIterable<Uint8Array>): Promise<string | undefined> {
    let last = '';
    for await (const data of eventsIn(answer)) {
      if (isRunOver(run)) return undefined;
      if (data === DONE_DATA) return last;
      refuseError(data);
      this.publishEvent(run, data);
      if (FINISH_REASON.test(data)) last = data;
    }
    throw new UpstreamLost('cut', undefined);
  }

  /** Publishes one more event of the answer, as the server wrote it. */
  private publishEvent(run: Run, payload: string): void {
    this.health.succeeded();
    (run.payloads ??= new KeptPayloads()).add(payload);
    if (run.emitted === 0) run.firstTokenUs = this.clock.nowUs();
    const { entry } = this;
    this.address(run);
    entry.kind = 'tokens';
    entry.first = run.emitted;
    entry.count = 1;
    entry.tail = payload;
    this.frames.add(run.outbox, entry);
    this.frames.flushSoon();
    run.emitted += 1;
  }

  /** Publishes that the run is on the server, or waits for a server again. */
  private publishState(run: Run, kind: 'scheduled' | 'restarted'): void {
    const { entry } = this;
    this.address(run);
    entry.kind = kind;
    entry.first = 0;
    entry.count = 0;
    entry.tail = undefined;
    this.frames.add(run.outbox, entry);
    this.frames.flushSoon();
  }

  private complete(run: Run, last: string): void {
    const { entry } = this;
    const reason = reasonIn(last);
    this.address(run);
    entry.kind = 'end';
    entry.reason = reason;
    entry.first = run.emitted;
    entry.count = 0;
    entry.tail = undefined;
    this.frames.add(run.outbox, entry);
    this.frames.flushSoon();
    this.endings.finishRequest(run, { reason, tokens: run.emitted });
  }

  private address(run: Run): void {
    this.entry.streamId = run.job.streamId;
    this.entry.epoch = run.epoch;
    this.entry.reason = 'none';
  }

  private onFailure(run: Run, leg: ActiveLeg, error: unknown): void {
    if (isRunOver(run) || leg.controller.signal.aborted) return;
    const failure = this.failureOf(run, error);
    if (failure === undefined) this.slot.guard(() => this.endings.end(run, 'giveBack'));
    else if (leg.isPaired) void this.pairedEnd.endRequest(run, failure);
    else if (this.isFinal(run, leg, failure)) this.fail(run, leg, failure);
    else this.beginAnew(run);
  }

  /**
   * Whether the client gets the error. A server that fetches KV also answers 500 when the KV did
   * not arrive, often before the loss of prefill is detected; another prefill may help then. A 503
   * is not retried.
   */
  private isFinal(run: Run, leg: ActiveLeg, failure: LegFailure): boolean {
    if (run.emitted > 0) return true;
    const { workerLossPolicy, maxRuns } = this.options;
    const mayTry = workerLossPolicy === 'retry' && submissionOf(run.epoch) < maxRuns;
    if (leg.fetches && mayTry && isInternal(failure)) return false;
    return this.pairedEnd.isFinal(failure);
  }

  /** Undefined: the error is not the server's. */
  private failureOf(run: Run, cause: unknown): LegFailure | undefined {
    // A refusal of the request would be the same on every server.
    if (cause instanceof UpstreamRefusal) return cause.failure;
    if (!(cause instanceof UpstreamLost)) return undefined;
    const { why, cause: err } = cause;
    const { log } = this;
    log.warn({ requestId: run.job.requestId, server: this.server.url, why, err }, 'upstream');
    this.health.failed(why === 'unreachable');
    return { code: LOST_CODES[why] };
  }

  private fail(run: Run, leg: ActiveLeg, failure: LegFailure): void {
    this.releasePrefill(run, leg);
    this.pairedEnd.fail(run, failure);
  }

  /**
   * Returns the request for another engine, which is possible before the first token. Held KV that
   * has been read is not read again.
   */
  private beginAnew(run: Run): void {
    const leg = this.legs.get(run);
    if (leg) this.releasePrefill(run, leg);
    this.cancel(run);
    this.tally.retried();
    this.publishState(run, 'restarted');
    if (run.stage === 'decode') this.failed.onSourceGone(run);
    else this.endings.end(run, 'giveBack');
  }

  /** Sends prefill the message that no decode engine fetches its blocks of this run. */
  private releasePrefill({ job }: Run, { source }: ActiveLeg): void {
    if (source === undefined) return;
    const from = this.identity.engineId;
    const { requestId } = job;
    const { engineId, epoch } = source;
    this.mailbox.send(engineId, { kind: 'leg-over', from, requestId, epoch });
  }
}

interface Generation {
  readonly request: ClientRequest;
  readonly params: Body | undefined;
  readonly signal: AbortSignal;
}

function isInternal(failure: LegFailure): boolean {
  return 'status' in failure && failure.status === 500;
}
