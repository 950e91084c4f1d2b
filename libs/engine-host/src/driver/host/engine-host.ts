import type { LiveClock } from '@baton/clock';
import type { EnginePresence, EngineReport, MembershipOrder } from '@baton/contract';
import type { EnginePort } from '@baton/engine';
import type { MailReaders } from '../../live-engine/engine/mailbox';
import type { StepLoop } from '../../live-engine/engine/step-loop';
import type { JobRouting } from '../../routing/job-routing';
import type { Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import type { Tracer } from '@opentelemetry/api';
import type { NewExecutor } from '../jobs/executor';
import type { DriverOptions } from '../options';
import { FrameResender } from '../steps/resend';
import { StepReports } from '../steps/step-frames';
import { buildCore, type Core } from './assembly/core';
import { buildDuties, type Duties } from './assembly/duties';
import { buildSides, type Sides } from './assembly/sides';
import { type Site, siteOf } from './assembly/site';
import { buildWork, type Work } from './assembly/work';
import { CrashRecovery } from './crash-recovery';
import { MailDelivery } from './mail-delivery';
import { RunClaims } from './run-claims';

export interface HostOptions extends DriverOptions {
  /** Makes the executor of the stage; unset: the engine simulates the stage. */
  readonly newExecutor?: NewExecutor;
}

export interface HostDependencies {
  readonly transport: Transport;
  readonly clock: LiveClock;
  readonly log: Logger;
  /** Unset: shared queues. */
  readonly routing?: JobRouting;
  /** Unset when tracing is off. */
  readonly tracer?: Tracer | undefined;
  /**
   * Called for orders that the owner of the host carries out: an engine of several ranks leaves as
   * one.
   */
  readonly onOrder?: (order: MembershipOrder) => void;
  /** Ends this process for an injected fault, as a power cut would. Unset: SIGKILL. */
  readonly endProcess?: () => void;
}

/**
 * One engine in the cluster, on the wall clock. Jobs and messages come in; frames and ledger
 * entries go out. The engine and the hand-over coordinators make all decisions. The parts are built
 * in order, each from those before it; three listeners connect the last parts to the first.
 */
export class EngineHost {
  private readonly site: Site;
  private readonly core: Core;
  private readonly sides: Sides;
  private readonly work: Work;
  private readonly duties: Duties;
  private readonly readers: MailReaders;
  private stopping: Promise<void> | undefined;

  constructor(options: HostOptions, dependencies: HostDependencies) {
    const site = siteOf(options, dependencies);
    const core = buildCore(site, dependencies);
    const sides = buildSides(site, core);
    const work = buildWork(site, core, sides);
    const duties = buildDuties(site, core, { ...sides, ...work });
    const { warmStart } = duties;
    const built = { ...site, ...core, ...sides, ...work, warmStart };
    core.slot.onCrash(new CrashRecovery(built).recover);
    core.loop.listen(new StepReports(built));
    core.endings.onDrop(new RunClaims(built).drop);
    const { onOrder = () => undefined } = dependencies;
    const resender = new FrameResender(built);
    const report = (): Promise<EngineReport> => this.report();
    this.readers = new MailDelivery({ ...built, onOrder, resender, report });
    this.site = site;
    this.core = core;
    this.sides = sides;
    this.work = work;
    this.duties = duties;
  }

  get engineId(): string {
    return this.site.identity.engineId;
  }

  get state(): EnginePresence['state'] {
    return this.site.identity.state;
  }

  /** Unique among the living engines of the cluster; 0 until the cluster has assigned it. */
  get index(): number {
    return this.site.identity.index;
  }

  get options(): HostOptions {
    return this.site.options;
  }

  /** The runs of this engine. */
  get runs(): { readonly size: number } {
    return this.core.runs;
  }

  /** The current engine; after a crash it is a new one. */
  get engine(): EnginePort {
    return this.core.slot.engine;
  }

  /** Paces the engine. */
  get loop(): StepLoop {
    return this.core.loop;
  }

  presence(): EnginePresence {
    return this.duties.numbers.snapshot();
  }

  /** The numbers are those of the instant at which its server has answered. */
  async report(): Promise<EngineReport> {
    const page = (await this.work.executor?.metricsPage()) ?? '';
    return { presence: this.presence(), page };
  }

  /**
   * Resolves when the engine is announced and listens; it takes work once its simulated start-up is
   * over.
   */
  async start(): Promise<void> {
    const { mailbox, kvEvents, poolNode } = this.core;
    const { operations, beacon, load, sweep } = this.duties;
    await mailbox.open(this.readers);
    await operations.open();
    await poolNode?.open();
    await beacon.start();
    await kvEvents?.open(this.index);
    if (this.site.options.publishesLoad) load.start();
    sweep.start();
    await this.startUp();
  }

  /**
   * Takes no more jobs, waits for running ones for at most `timeoutMs` of wall time, returns the
   * rest to their queue, and leaves the cluster. Of two calls the earlier deadline applies.
   */
  stop(timeoutMs: number): Promise<void> {
    this.duties.drain.endWithin(timeoutMs);
    this.stopping ??= this.leave();
    return this.stopping;
  }

  private async startUp(): Promise<void> {
    const { startup } = this.duties;
    if (startup.isInstant) {
      await this.takeWork();
      return;
    }
    const takeWork = (): Promise<void> | undefined =>
      this.state === 'starting' ? this.takeWork() : undefined;
    startup
      .run()
      .then(takeWork)
      .catch((error: unknown) => {
        this.site.log.error({ err: error }, 'unexpected failure');
      });
  }

  private async takeWork(): Promise<void> {
    const { intake, executor } = this.work;
    intake.open();
    executor?.open((isUp) => this.onExecutor(isUp));
    await this.duties.beacon.enter('ready');
  }

  /**
   * Reports whether the executor's server is up: no request should wait for an engine without its
   * server.
   */
  private onExecutor(isUp: boolean): void {
    if (this.state === 'draining') return;
    void this.tolerate(this.duties.beacon.enter(isUp ? 'ready' : 'starting'));
    if (isUp) this.work.intake.wake();
  }

  private async leave(): Promise<void> {
    const { beacon, load, drain } = this.duties;
    this.duties.startup.stop();
    this.work.intake.pause();
    const announced = beacon.enter('draining');
    load.tellNow();
    this.core.loop.resume();
    await this.tolerate(announced);
    await drain.run();
    this.stopParts();
    await this.closeParts();
  }

  private stopParts(): void {
    const { loop, timelines, poolNode } = this.core;
    const { sweep, load } = this.duties;
    const { source, target } = this.sides;
    for (const part of [loop, sweep, load, timelines, poolNode, source, target]) part?.stop();
  }

  private async closeParts(): Promise<void> {
    const { intake, executor } = this.work;
    const { operations, beacon } = this.duties;
    const { mailbox, kvEvents, poolNode } = this.core;
    await this.tolerate(intake.close());
    await this.tolerate(executor?.close() ?? Promise.resolve());
    await this.tolerate(mailbox.close());
    await this.tolerate(operations.close());
    await this.tolerate(poolNode?.close() ?? Promise.resolve());
    await this.tolerate(beacon.stop());
    await kvEvents?.close();
  }

  /** This host ends even when the broker is not available. */
  private async tolerate(work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) => {
      this.site.log.debug({ err: error }, 'while stopping');
    });
  }
}
