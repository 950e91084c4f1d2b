import { PeriodicTimer } from '@baton/clock';
import type { EnginePresence, Stage } from '@baton/contract';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { ApiIdentity, Config, Log, Broker } from '../tokens';

const TICK_MS = 500;
const ANNOUNCE_EVERY_TICKS = 2;
/** The largest share of the time that this process spends on reading the board. */
const READING_SHARE = 0.05;
const FORGET_AFTER_MS = 60_000;
/** Names are kept beyond that: timelines show engines that have left. */
const MOST_NAMES = 10_000;

export type EnginesListener = (engines: readonly EnginePresence[]) => void;

/**
 * This process's view of the cluster: the presence of the engines, read twice a second, and its own
 * announcement, renewed every second. It lists the stages without an engine; it decides nothing.
 */
@Injectable()
export class ClusterView implements OnApplicationBootstrap, OnApplicationShutdown {
  private engines: readonly EnginePresence[] = [];
  /**
   * For each engine ever seen, the awake time at which its absence began; undefined while it is
   * present.
   */
  private readonly absentMs = new Map<string, number | undefined>();
  private readonly names = new Map<string, string>();
  private refreshedMs = 0;
  private readonly stageReadyMs = new Map<Stage, number>();
  private readonly listeners: EnginesListener[] = [];
  private readonly companions: (() => void)[] = [];
  private timer: PeriodicTimer | undefined;
  private ticks = 0;
  private isBusy = false;
  private nextRefreshMs = 0;

  constructor(
    private readonly transport: Broker,
    private readonly identity: ApiIdentity,
    private readonly config: Config,
    private readonly logger: Log,
  ) {}

  /** Announces this process: from now on engines may send it frames. */
  async onApplicationBootstrap(): Promise<void> {
    await this.announce();
    await this.refresh();
    this.timer = new PeriodicTimer(TICK_MS, () => void this.tick());
  }

  async onApplicationShutdown(): Promise<void> {
    this.timer?.stop();
    await this.transport.presence.removeApi(this.identity.apiId).catch(() => undefined);
  }

  /** Called with the living engines after each refresh. */
  onEngines(listener: EnginesListener): void {
    this.listeners.push(listener);
  }

  /** Called at each read of the board, so that the listener's messages leave in the same write. */
  onRead(companion: () => void): void {
    this.companions.push(companion);
  }

  announce(): Promise<void> {
    const { presence, processClock } = this.transport;
    const ttlMs = processClock.leaseMs(this.config.presenceTtl * 1_000);
    return presence.announceApi(this.identity.apiId, ttlMs);
  }

  /** Time during which this process ran, in ms. */
  awakeMs(): number {
    return this.transport.processClock.awakeMs();
  }

  living(): readonly EnginePresence[] {
    return this.engines;
  }

  find(engineId: string): EnginePresence | undefined {
    return this.engines.find((engine) => engine.engineId === engineId);
  }

  /** `P0`, `D3`, also of an engine that has left; its id while it was not seen. */
  nameOf(engineId: string): string {
    return this.names.get(engineId) ?? engineId;
  }

  /**
   * The engine id of another data-parallel rank of the same engine; undefined while it is unknown.
   */
  rankOf(engineId: string, rank: number): string | undefined {
    const replicaId = this.find(engineId)?.dataParallel?.replicaId;
    return this.engines.find(
      ({ dataParallel }) => dataParallel?.replicaId === replicaId && dataParallel?.rank === rank,
    )?.engineId;
  }

  readyEngines(stage: Stage): number {
    let count = 0;
    for (const engine of this.engines) {
      if (engine.stage === stage && engine.state === 'ready') count += 1;
    }
    return count;
  }

  isReady(stage: Stage): boolean {
    return this.readyEngines(stage) > 0;
  }

  /**
   * Ready now or less than `engine_grace` ago. A lost worker comes back or is replaced, and its
   * queue is kept until then.
   */
  wasReadyLately(stage: Stage): boolean {
    const readyMs = this.stageReadyMs.get(stage);
    const graceMs = this.config.engineGrace * 1_000;
    return readyMs !== undefined && this.transport.processClock.awakeMs() - readyMs < graceMs;
  }

  /** Absent from the board for `engine_lost_after`; true also for an engine that was never seen. */
  hasLost(engineId: string): boolean {
    if (!this.absentMs.has(engineId)) return true;
    const sinceMs = this.absentMs.get(engineId);
    return (
      sinceMs !== undefined && this.refreshedMs - sinceMs > this.config.engineLostAfter * 1_000
    );
  }

  /** Reads the board now, between two runs of the timer. */
  async refresh(): Promise<void> {
    const startMs = performance.now();
    const reading = this.transport.presence.engines();
    for (const companion of this.companions) companion();
    const engines = await reading;
    const nowMs = performance.now();
    this.nextRefreshMs = nowMs + (nowMs - startMs) * (1 / READING_SHARE - 1);
    const awakeMs = this.transport.processClock.awakeMs();
    this.refreshedMs = awakeMs;
    this.engines = [...engines].sort((a, b) => a.index - b.index);
    this.noteAbsent(awakeMs);
    for (const engine of engines) {
      this.absentMs.set(engine.engineId, undefined);
      this.noteName(engine);
      if (engine.state === 'ready') this.stageReadyMs.set(engine.stage, awakeMs);
    }
    for (const listener of this.listeners) listener(this.engines);
  }

  private async tick(): Promise<void> {
    if (this.isBusy || !this.transport.isConnected) return;
    this.isBusy = true;
    this.ticks += 1;
    try {
      const announced = this.ticks % ANNOUNCE_EVERY_TICKS === 0 ? this.announce() : undefined;
      const refreshed = performance.now() >= this.nextRefreshMs ? this.refresh() : undefined;
      await Promise.all([announced, refreshed]);
    } catch (error) {
      this.logger.debug({ err: error }, 'reading the cluster failed; the next refresh retries');
    } finally {
      this.isBusy = false;
    }
  }

  private noteName({ engineId, name }: EnginePresence): void {
    this.names.set(engineId, name);
    if (this.names.size <= MOST_NAMES) return;
    const [oldest] = this.names.keys();
    if (oldest !== undefined) this.names.delete(oldest);
  }

  private noteAbsent(nowMs: number): void {
    const here = new Set(this.engines.map((engine) => engine.engineId));
    for (const [engineId, sinceMs] of this.absentMs) {
      if (here.has(engineId)) continue;
      this.absentMs.set(engineId, sinceMs ?? nowMs);
      if (sinceMs !== undefined && nowMs - sinceMs > FORGET_AFTER_MS)
        this.absentMs.delete(engineId);
    }
  }
}
