import { randomUUID } from 'node:crypto';
import type { LiveClock } from '@baton/clock';
import type { EnginePresence, MembershipOrder } from '@baton/contract';
import type { EngineCounters, EnginePort, StepFacts } from '@baton/engine';
import { type Micros, usToSeconds } from '@baton/kernel';
import { type JobRouting, SharedQueues } from '@baton/routing';
import { EngineStats, type Logger, moduleLogger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import type { Tracer } from '@opentelemetry/api';
import { DecodeSide } from '../handover/decode-side';
import { FailedFetches } from '../handover/failed-fetches';
import { PrefillSide } from '../handover/prefill-side';
import { Endings, type LettingGo } from '../jobs/endings';
import { FaultPlan } from '../jobs/fault-plan';
import { FinishedRuns } from '../jobs/finished-runs';
import { Intake } from '../jobs/intake';
import { JobFaults } from '../jobs/job-faults';
import { type Run, RunTable } from '../jobs/run';
import { RunSpans } from '../jobs/run-spans';
import { KvEvents } from '../kv-events/kv-events';
import { Frames } from '../steps/frames';
import { LagWindow } from '../steps/lag-window';
import { Resender } from '../steps/resend';
import { StepFrames } from '../steps/step-frames';
import { StepLoop } from '../steps/step-loop';
import { Drain } from './drain';
import type { Executor } from './executor';
import type { HostContext } from './host-context';
import type { HostOptions } from './host-options';
import { LoadBeacon } from './load-beacon';
import { Mailbox } from './mailbox';
import { Operations } from './operations';
import { PresenceBeacon } from './presence';
import { Sweep } from './sweep';
import { TimelineFacts } from './timeline-facts';

export interface HostDependencies {
  readonly transport: Transport;
  readonly clock: LiveClock;
  readonly log: Logger;
  /** Shared queues unless told. */
  readonly routing?: JobRouting;
  /** Unset: no spans. */
  readonly tracer?: Tracer | undefined;
  /** Whoever owns the host carries orders out: an engine of several ranks leaves as one. Unset: there are none to carry out. */
  readonly onOrder?: (order: MembershipOrder) => void;
}

const NO_COUNTS: EngineCounters = {
  steps: 0,
  promptTokensComputed: 0,
  promptTokensCached: 0,
  promptTokensLoadedFromHost: 0,
  promptTokensTransferred: 0,
  generatedTokens: 0,
  preemptions: 0,
  prefixQueriesTokens: 0,
  prefixHitsTokens: 0,
  finished: 0,
  aborted: 0,
  rejected: 0,
  drafts: 0,
  draftTokens: 0,
  acceptedTokens: 0,
};

/**
 * One engine in the cluster, on the wall clock: wires the parts of this folder together and replaces the engine should it throw. Jobs and
 * messages come in, frames and ledger entries go out; the engine and the hand-over coordinators decide everything in between.
 */
export class EngineHost implements HostContext {
  /** Another one for each start: whoever asks for an engine of before finds nobody. */
  readonly engineId = randomUUID();
  readonly runs = new RunTable();
  readonly stats: EngineStats;
  readonly kvEvents: KvEvents | undefined;
  readonly transport: Transport;
  readonly routing: JobRouting;
  readonly clock: LiveClock;
  readonly log: Logger;
  readonly frames: Frames;
  readonly loop: StepLoop;
  readonly faults: FaultPlan;
  readonly timelines: TimelineFacts;
  readonly spans: RunSpans;
  engine: EnginePort;
  private formerCounters = NO_COUNTS;
  private readonly finished = new FinishedRuns();
  private readonly lag = new LagWindow();
  private readonly endings: Endings;
  private readonly mailbox: Mailbox;
  private readonly operations: Operations;
  private readonly prefill: PrefillSide;
  private readonly decode: DecodeSide;
  private readonly intake: Intake;
  private readonly executor: Executor | undefined;
  private readonly stepFrames: StepFrames;
  private readonly sweep: Sweep;
  private readonly beacon: PresenceBeacon;
  private readonly load: LoadBeacon;
  private stepUs: Micros = 0;
  private readonly drain: Drain;
  private readonly onOrder: (order: MembershipOrder) => void;
  private startup: { cancel(): void } | undefined;
  private stopping: Promise<void> | undefined;

  constructor(
    readonly options: HostOptions,
    dependencies: HostDependencies,
  ) {
    const { transport, clock, log, routing = new SharedQueues() } = dependencies;
    this.onOrder = dependencies.onOrder ?? (() => undefined);
    this.transport = transport;
    this.routing = routing;
    this.clock = clock;
    this.log = moduleLogger(log, 'engine').child({ engine: this.engineId.slice(0, 8) });
    this.kvEvents = options.kvEvents && newKvEvents(options, options.kvEvents, clock);
    this.engine = options.buildEngine(this.kvEvents);
    this.stats = new EngineStats(options.maxModelLen);
    this.faults = new FaultPlan(options.faults);
    const { engineId } = this;
    this.frames = new Frames({
      engineId,
      stage: options.role,
      bus: transport.bus,
      wall: clock.wall,
    });
    this.timelines = new TimelineFacts(this);
    this.spans = new RunSpans(dependencies.tracer);
    this.loop = this.newLoop();
    this.mailbox = new Mailbox(this);
    this.operations = new Operations(this, () => this.beacon.index);
    const letGo = (run: Run, why: LettingGo): void => this.letGo(run, why);
    this.endings = new Endings(this, { finished: this.finished, letGo });
    const { endings } = this;
    this.prefill = new PrefillSide(this, endings, this.mailbox);
    const failed = new FailedFetches(this, endings);
    const jobFaults = new JobFaults(this, endings);
    this.decode = new DecodeSide(this, this.mailbox, { failed, jobFaults });
    const { prefill, decode, finished } = this;
    this.executor = options.newExecutor?.(this, { endings, failed, mailbox: this.mailbox });
    const { executor } = this;
    this.intake = new Intake(this, { decode, endings, failed, jobFaults, executor });
    this.stepFrames = new StepFrames(this, { endings, prefill, jobFaults });
    this.sweep = new Sweep(this, { endings, finished, prefill, decode, executor });
    this.beacon = new PresenceBeacon(this, {
      lag: this.lag,
      stepUs: () => this.stepUs,
      formerCounters: () => this.formerCounters,
      handoffs: () => ({ ...this.prefill.handoffs(), ...this.decode.handoffs() }),
      sleepLevel: () => this.operations.sleepLevel,
      executor: () => this.executor?.numbers(),
    });
    this.drain = new Drain(this, { endings, prefill });
    this.load = new LoadBeacon(this, { intake: this.intake, presence: this.beacon });
  }

  /** Resolves when the engine is announced and listens; it takes work once its simulated start-up is over. */
  async start(): Promise<void> {
    await this.mailbox.open({
      prefill: this.prefill,
      decode: this.decode,
      onLegOver: (message) => this.executor?.onLegOver(message),
      onTellMetrics: (replyTo) => this.executor?.tellMetrics(replyTo),
      onResend: new Resender(this, this.finished).answer,
      onOrder: this.onOrder,
      onAborts: (requestIds) => this.onAborts(requestIds),
    });
    await this.operations.open();
    await this.beacon.start();
    await this.kvEvents?.open(this.index);
    if (this.options.tellsLoad) this.load.start();
    this.sweep.start();
    const { startupUs } = this.options;
    if (startupUs === 0) await this.open();
    else {
      const { clock } = this;
      const rung = (): void => void this.open().catch((error: unknown) => this.onBug(error));
      this.startup = clock.atSim(clock.nowUs() + startupUs, rung);
    }
  }

  get state(): EnginePresence['state'] {
    return this.beacon.state;
  }

  /** Unique among the living engines of the cluster, once that has given it. */
  get index(): number {
    return this.beacon.index;
  }

  presence(): EnginePresence {
    return this.beacon.snapshot();
  }

  /**
   * Takes nothing more, lets what runs finish for at most `timeoutMs` of wall time, hands back the rest, and leaves the cluster. Told again
   * while it drains, it takes the earlier end of the two.
   */
  stop(timeoutMs: number): Promise<void> {
    this.drain.endWithin(timeoutMs);
    this.stopping ??= this.leave();
    return this.stopping;
  }

  private async leave(): Promise<void> {
    this.startup?.cancel();
    this.intake.pause();
    const told = this.beacon.enter('draining');
    this.load.tellNow();
    this.loop.resume();
    await this.tolerate(told);
    await this.drain.run();
    this.loop.stop();
    this.sweep.stop();
    this.load.stop();
    this.timelines.stop();
    this.prefill.stop();
    this.decode.stop();
    await this.tolerate(this.intake.close());
    await this.tolerate(this.executor?.close() ?? Promise.resolve());
    await this.tolerate(this.mailbox.close());
    await this.tolerate(this.operations.close());
    await this.tolerate(this.beacon.stop());
    await this.kvEvents?.close();
  }

  guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.onCrash(error);
    }
  }

  private async open(): Promise<void> {
    this.intake.open();
    this.executor?.open((isUp) => this.onExecutor(isUp));
    await this.beacon.enter('ready');
  }

  /** What the executor stands on went down, or came up again: nobody should wait for an engine that cannot work. */
  private onExecutor(isUp: boolean): void {
    if (this.state === 'draining') return;
    void this.tolerate(this.beacon.enter(isUp ? 'ready' : 'starting'));
    if (isUp) this.intake.wake();
  }

  private newLoop(): StepLoop {
    return new StepLoop({
      clock: this.clock,
      engine: () => this.engine,
      onStep: (durationUs, lateUs) => this.onStep(durationUs, lateUs),
      onBegun: (startUs) => {
        if (this.decode.reserve(startUs)) this.intake.wake();
      },
      onFacts: (facts) => this.onFacts(facts),
      onReAnchor: () => this.stats.add('clock_reanchors'),
      onCrash: (error) => this.onCrash(error),
    });
  }

  private onStep(durationUs: Micros, lateUs: number): void {
    this.stepUs = durationUs;
    this.options.onStep?.(durationUs);
    this.lag.observe(lateUs);
    this.stats.observe('step_lag_seconds', usToSeconds(Math.max(0, lateUs)));
  }

  private onFacts(facts: StepFacts): void {
    this.stepFrames.publish(facts, this.stepUs);
    const { scheduled, finished, held, rejected } = facts;
    const left = finished.length + held.length + rejected.length;
    if (scheduled.length + left > 0) this.intake.wake();
  }

  private onAborts(requestIds: readonly string[]): void {
    for (const requestId of requestIds) {
      const run = this.runs.get(requestId);
      if (run) this.endings.abort(run);
      else this.prefill.letGo(requestId, 0, 'aborted');
    }
    this.intake.wake();
  }

  private letGo(run: Run, why: LettingGo): void {
    this.intake.settle(run);
    this.executor?.cancel(run);
    if (run.fetching) this.decode.letGo(run, why);
    if (run.stage === 'prefill') this.prefill.letGo(run.job.requestId, run.epoch, why);
    // A sequence may have waited for what this one held, in an engine that has nothing else to do.
    this.loop.enter(this.clock.nowUs(), () => undefined);
  }

  /** The engine broke an invariant: a new one takes its place, and every request it had ends with `engine_error`. */
  private onCrash(error: unknown): void {
    this.log.error({ err: error }, 'engine failed; its requests end, a new engine takes over');
    const broken = this.engine;
    this.loop.reset();
    this.kvEvents?.cleared();
    this.engine = this.options.buildEngine(this.kvEvents);
    this.formerCounters = addCounters(this.formerCounters, broken.counters);
    const lost = this.runs.all();
    for (const run of lost) this.runs.unbind(run);
    this.prefill.reset();
    for (const run of lost) this.endings.fail(run, 'engine_error');
    this.decode.reset();
    this.intake.wake();
  }

  private onBug(error: unknown): void {
    this.log.error({ err: error }, 'unexpected failure');
  }

  /** The broker may be gone while this host ends; that must not keep it. */
  private async tolerate(work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) => this.log.debug({ err: error }, 'while stopping'));
  }
}

function newKvEvents(
  { facts }: HostOptions,
  publisher: NonNullable<HostOptions['kvEvents']>,
  { wall }: LiveClock,
): KvEvents {
  return new KvEvents({ blockSize: facts.blockSize, wall, publisher });
}

function addCounters(a: EngineCounters, b: EngineCounters): EngineCounters {
  const keys = Object.keys(a) as (keyof EngineCounters)[];
  const sums = keys.map((key) => [key, a[key] + b[key]]);
  return Object.fromEntries(sums) as unknown as EngineCounters;
}
