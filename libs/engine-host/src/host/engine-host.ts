import type { EnginePresence, EngineReport } from '@baton/contract';
import type { EnginePort } from '@baton/engine';
import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  Optional,
} from '@nestjs/common';
import { EngineIdentity } from '../run/engine/engine-identity';
import { EngineSlot } from '../run/engine/engine-slot';
import { StepLoop } from '../run/engine/step-loop';
import { Executor } from '../run/jobs/executor';
import { Intake } from '../run/jobs/intake';
import { KvEvents } from '../run/observers/kv-events';
import { RunTable } from '../run/runs/run';
import { HostOptions, Log } from '../run/tokens';
import { EngineDrain } from './drain';
import { EngineNumbers } from './engine-numbers';
import { LoadBeacon } from './load-beacon';
import { PresenceBeacon } from './presence';
import { Startup } from './startup';

/**
 * One engine in the cluster, on the wall clock, from its start to its end. Its parts begin and end
 * by Nest's hooks:
 *
 * 1. `onModuleInit`: it listens to its mail, to operators and to its KV pool.
 * 2. `onApplicationBootstrap`: it announces itself, and takes work once its simulated start-up is
 *    over.
 * 3. `onModuleDestroy`: it takes no more jobs and drains, see `endWithin`.
 * 4. `beforeApplicationShutdown`: its timers, queues and its executor end.
 * 5. `onApplicationShutdown`: it listens to nothing, and leaves the cluster.
 */
@Injectable()
export class EngineHost
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  private draining: Promise<void> | undefined;

  constructor(
    private readonly identity: EngineIdentity,
    readonly options: HostOptions,
    /** Its current runs. */
    readonly runs: RunTable,
    private readonly slot: EngineSlot,
    /** Paces the engine. */
    readonly loop: StepLoop,
    private readonly numbers: EngineNumbers,
    private readonly beacon: PresenceBeacon,
    private readonly load: LoadBeacon,
    private readonly startup: Startup,
    private readonly intake: Intake,
    private readonly drain: EngineDrain,
    private readonly log: Log,
    @Optional() private readonly executor?: Executor,
    @Optional() private readonly kvEvents?: KvEvents,
  ) {}

  get engineId(): string {
    return this.identity.engineId;
  }

  get state(): EnginePresence['state'] {
    return this.identity.state;
  }

  /** Unique among the living engines of the cluster; 0 until the cluster has assigned it. */
  get index(): number {
    return this.identity.index;
  }

  /** The current engine; after a crash it is a new one. */
  get engine(): EnginePort {
    return this.slot.engine;
  }

  presence(): EnginePresence {
    return this.numbers.snapshot();
  }

  report(): Promise<EngineReport> {
    return this.numbers.report();
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.beacon.start();
    await this.kvEvents?.open(this.index);
    if (this.startup.isInstant) {
      await this.takeWork();
      return;
    }
    const takeWork = (): Promise<void> | undefined =>
      this.state === 'starting' ? this.takeWork() : undefined;
    this.startup
      .run()
      .then(takeWork)
      .catch((error: unknown) => {
        this.log.error({ err: error }, 'unexpected failure');
      });
  }

  /**
   * Takes no more jobs, waits for running ones for at most `timeoutMs` of wall time, and returns
   * the rest to their queue. Of two calls the earlier deadline applies.
   */
  endWithin(timeoutMs: number): Promise<void> {
    this.drain.endWithin(timeoutMs);
    return this.onModuleDestroy();
  }

  onModuleDestroy(): Promise<void> {
    this.draining ??= this.leave();
    return this.draining;
  }

  beforeApplicationShutdown(): void {
    this.loop.stop();
  }

  private async takeWork(): Promise<void> {
    this.intake.open();
    this.executor?.open((isUp) => this.onExecutor(isUp));
    await this.beacon.enter('ready');
  }

  /**
   * Reports whether the executor's server is up: no request should wait for an engine without its
   * server.
   */
  private onExecutor(isUp: boolean): void {
    if (this.state === 'draining') return;
    void this.announce(isUp ? 'ready' : 'starting');
    if (isUp) this.intake.wake();
  }

  private async leave(): Promise<void> {
    this.startup.stop();
    this.intake.pause();
    const announced = this.announce('draining');
    this.load.tellNow();
    this.loop.resume();
    await announced;
    await this.drain.run();
  }

  /** An engine works and ends even when the broker is not available. */
  private async announce(state: EnginePresence['state']): Promise<void> {
    await this.beacon.enter(state).catch((error: unknown) => {
      this.log.debug({ err: error }, 'state not announced');
    });
  }
}
