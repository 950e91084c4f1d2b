import { LiveClock, SystemWallClock, type WallClock } from '@baton/clock';
import {
  type BatonConfig,
  checkExtrapolation,
  engineSetup,
  type EngineSetup,
  withOwnGuard,
} from '@baton/config';
import {
  type EnginePresence,
  type EngineReport,
  type MembershipOrder,
  type Stage,
  STAGES,
} from '@baton/contract';
import { liveWatch, parseTopology, watchedScheduling } from '@baton/policies';
import { type Logger, startTracing, type Tracing } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import { randomUUID } from 'node:crypto';
import type { Stages } from '../engine.module';
import { LocalServers } from '../executors/llamacpp/local-servers';
import { executes, type ServerAddress, upstreamAt } from '../executors/server/executing';
import type { EngineHost } from '../host/engine-host';
import { type JobRouting } from '../routing/job-routing';
import { faultReporter } from '../routing/policy-faults';
import { buildRouting } from '../routing/policy-routing';
import { endQuietly } from '../run/engine/end-quietly';
import { StepBarrier } from '../run/engine/step-barrier';
import { StepLog } from '../run/observers/step-log';
import type { HostOptions } from '../run/tokens';
import { hostOptions } from './configured-host';
import { EngineRanks } from './engine-ranks';

export interface WorkerHostsOptions {
  readonly config: BatonConfig;
  /** Engines of this process by role. */
  readonly engines: Readonly<Partial<Record<Stage, number>>>;
  readonly stages: Stages;
  readonly transport: Transport;
  readonly log: Logger;
  /** The machine's by default. */
  readonly wall?: WallClock;
  /** Called when a replacement engine could not be started. Default: logs the error. */
  readonly onFailure?: (error: unknown) => void;
}

/** The shared parts of engines of one role. */
interface RoleParts {
  readonly setup: EngineSetup;
  readonly routing: JobRouting;
}

/**
 * The engines of one process on one transport: initially of one role, later of the roles that
 * orders give them. The caller starts and stops them; the transport stays open.
 */
export class WorkerHosts {
  /** Number of engines named so far. */
  private named = 0;
  /** Hosts created so far, by role. */
  private readonly created = new Map<Stage, number>();
  readonly engines = new Set<EngineRanks>();
  /** Draining engines, and the role that replaces each. */
  private readonly leaving = new Map<EngineRanks, Stage | undefined>();
  private readonly roles = new Map<Stage, Promise<RoleParts>>();
  private readonly wall: WallClock;
  /** Servers assigned so far, by role. */
  private readonly upstreams = new Map<Stage, number>();
  private listener: (() => void) | undefined;
  private hasChanged = false;
  private isStopping = false;
  private readonly tracing: Tracing | undefined;

  private constructor(
    private readonly options: WorkerHostsOptions,
    private readonly local: LocalServers,
    private readonly stepLog: StepLog | undefined,
  ) {
    this.wall = options.wall ?? new SystemWallClock();
    this.tracing = startTracing(options.config, 'worker');
  }

  /** @throws UsageError when the configuration describes an impossible engine */
  static async start(options: WorkerHostsOptions): Promise<WorkerHosts> {
    const local = new LocalServers(options);
    const stepLog = await StepLog.open(options.config, options.log);
    const hosts = new WorkerHosts({ ...options, config: local.config }, local, stepLog);
    await Promise.all(STAGES.map((role) => hosts.join(role, options.engines[role] ?? 0)));
    return hosts;
  }

  /** One per engine and data-parallel rank. */
  get hosts(): readonly EngineHost[] {
    return [...this.engines].flatMap((engine) => engine.hosts);
  }

  /** Engines by role after draining ones have left and their replacements have started. */
  get counts(): Readonly<Record<Stage, number>> {
    const roles = [...this.engines].map((engine) =>
      this.leaving.has(engine) ? this.leaving.get(engine) : engine.role,
    );
    const countOf = (role: Stage): number => roles.filter((each) => each === role).length;
    return {
      prefill: countOf('prefill'),
      decode: countOf('decode'),
      aggregated: countOf('aggregated'),
    };
  }

  /** True when no engine is left and none will come. */
  get isEmpty(): boolean {
    return this.engines.size === 0;
  }

  /**
   * Calls the listener whenever engines begin to leave, have left, or have changed their role;
   * immediately if that has already happened.
   */
  onChange(listener: () => void): void {
    this.listener = listener;
    if (this.hasChanged) listener();
  }

  presences(): EnginePresence[] {
    return this.hosts.map((host) => host.presence());
  }

  /** The numbers of all engines at a scrape. */
  reports(): Promise<EngineReport[]> {
    return Promise.all(this.hosts.map((host) => host.report()));
  }

  /**
   * Starts further engines; they take work once their start-up is over.
   *
   * @throws UsageError when the configuration describes an impossible engine
   */
  async join(role: Stage, count: number): Promise<void> {
    if (count === 0) return;
    await this.open(role, count, await this.openParts(role));
  }

  /** Drains all engines together, for at most `shutdown_timeout`. */
  async stop(timeoutMs = this.options.config.shutdownTimeout * 1_000): Promise<void> {
    this.isStopping = true;
    await Promise.all([...this.engines].map((engine) => engine.stop(timeoutMs)));
    const { log } = this.options;
    for (const parts of this.roles.values()) await endQuietly((await parts).routing.stop(), log);
    await this.local.close();
    await this.stepLog?.close();
    await this.tracing?.stop();
  }

  private async open(role: Stage, count: number, parts: RoleParts): Promise<void> {
    await this.local.prepare(role, count * this.options.config.dataParallelSize);
    if (this.isStopping) return;
    const joining = Array.from({ length: count }, () => this.newEngine(role, parts));
    for (const engine of joining) this.engines.add(engine);
    await Promise.all(joining.map((engine) => this.start(engine)));
  }

  private async start(engine: EngineRanks): Promise<void> {
    try {
      await engine.start();
    } catch (error) {
      this.engines.delete(engine);
      this.local.takeBack(engine);
      throw error;
    }
  }

  private newEngine(role: Stage, { setup, routing }: RoleParts): EngineRanks {
    const { config, stages, transport, log } = this.options;
    const clock = new LiveClock(this.wall, config.speedup);
    const barrier = barrierFor(setup, clock);
    const engine: EngineRanks = new EngineRanks(role, config.dataParallelSize, (rank) => {
      const options = { ...this.optionsFor(role, setup), ...this.nextPlace(role) };
      const dataParallel = rank && { ...rank, barrier };
      return {
        options: dataParallel === undefined ? options : { ...options, dataParallel },
        site: {
          stages,
          clock,
          transport,
          log,
          routing,
          tracer: this.tracing?.tracer,
          onOrder: (order) => void this.carryOutOrder(engine, order),
        },
      };
    });
    this.local.lend(engine);
    return engine;
  }

  private nextPlace(role: Stage): Pick<HostOptions, 'index' | 'number'> {
    const ordinal = this.created.get(role) ?? 0;
    this.created.set(role, ordinal + 1);
    return wantedPlace(this.options, role, ordinal);
  }

  private optionsFor(role: Stage, shared: EngineSetup): HostOptions {
    const { config } = this.options;
    const name = nameOf(config, role, this.named++);
    const own = withOwnGuard({ ...shared, options: { ...shared.options, name } });
    const setup = { ...own, upstream: this.nextUpstream(role) };
    if (this.stepLog === undefined) return hostOptions(config, role, setup);
    const { setup: watched, onStep } = this.stepLog.watch(setup, role);
    return { ...hostOptions(config, role, { ...watched, upstream: setup.upstream }), onStep };
  }

  /**
   * The server of the next engine of an executing stage. @throws UsageError when there are more
   * engines than servers
   */
  private nextUpstream(role: Stage): ServerAddress | undefined {
    const { config } = this.options;
    if (!executes(config, role)) return undefined;
    const own = this.local.next(role);
    if (own !== undefined) return own;
    const number = (this.upstreams.get(role) ?? 0) + 1;
    this.upstreams.set(role, number);
    return upstreamAt(config, role, number);
  }

  /** A failure is kept only until it is reported. */
  private openParts(role: Stage): Promise<RoleParts> {
    const known = this.roles.get(role) ?? this.newParts(role);
    this.roles.set(role, known);
    known.catch(() => this.roles.delete(role));
    return known;
  }

  private async newParts(role: Stage): Promise<RoleParts> {
    const { config, transport, log } = this.options;
    const given = engineSetup(config, role);
    checkExtrapolation(given, role, { everyBatch: true });
    const routerId = `${role}-${randomUUID().slice(0, 12)}`;
    const onPolicyFault = faultReporter(transport, (message) => log.warn(message));
    const policyWatch = liveWatch(onPolicyFault);
    const options = watchedScheduling(given.options, policyWatch);
    const setup = { ...given, options };
    const { wall } = this;
    const routing = buildRouting({ config, transport, routerId, role, wall, log, policyWatch });
    await routing.start();
    return { setup, routing };
  }

  /**
   * An order goes to each rank of an engine, and is repeated until its presence shows that it
   * drains.
   */
  private async carryOutOrder(engine: EngineRanks, order: MembershipOrder): Promise<void> {
    if (this.isStopping || this.leaving.has(engine) || !this.engines.has(engine)) return;
    const next = order.kind === 'become' ? order.role : undefined;
    this.leaving.set(engine, next);
    try {
      if (next !== undefined) await this.openParts(next);
    } catch (error) {
      this.leaving.delete(engine);
      this.options.log.error({ err: error, role: next }, 'the engine cannot change its role');
      return;
    }
    await this.replace(engine, next).catch((error: unknown) => this.fail(error));
  }

  /** Drains without a time limit. */
  private async replace(engine: EngineRanks, next: Stage | undefined): Promise<void> {
    this.tellChange();
    await engine.stop(Infinity);
    this.local.takeBack(engine);
    const parts = next === undefined ? undefined : await this.openParts(next);
    this.engines.delete(engine);
    this.leaving.delete(engine);
    if (next !== undefined && parts !== undefined) await this.open(next, 1, parts);
    this.tellChange();
  }

  private tellChange(): void {
    this.hasChanged = true;
    this.listener?.();
  }

  private fail(error: unknown): void {
    this.options.log.error({ err: error }, 'no engine took the place of the one that left');
    this.options.onFailure?.(error);
  }
}

function barrierFor(setup: EngineSetup, clock: LiveClock): StepBarrier | undefined {
  const { lockstepRanks: size, options } = setup;
  return size === undefined ? undefined : new StepBarrier(clock, size, options);
}

/**
 * The name that seeds the scatter of an engine's steps: its role and its number in the cluster,
 * such as `decode-1`, however engines share processes. An engine that joins a process gets the name
 * of the process and a number of its own.
 */
function nameOf(config: BatonConfig, role: Stage, ordinal: number): string {
  const { firstEngine, enginesPerProcess = 1, workerEngines } = config;
  const isNumbered = firstEngine !== undefined && workerEngines === undefined;
  if (isNumbered && ordinal < enginesPerProcess) return `${role}-${firstEngine + ordinal}`;
  const own = process.env['BATON_PROCESS'] ?? `${role}-0`;
  return ordinal === 0 ? own : `${own}.${ordinal}`;
}

/**
 * The index and the number that the `ordinal`-th host of a role wants, by its place in the
 * topology, so that the ports of exposed engines and the names have the same order at every start.
 * An engine of a process that was started by hand wants none.
 */
function wantedPlace(
  { config, engines }: WorkerHostsOptions,
  role: Stage,
  ordinal: number,
): Pick<HostOptions, 'index' | 'number'> {
  const isAlone = config.role === undefined;
  const { firstEngine = isAlone ? 0 : undefined, workerEngines, dataParallelSize } = config;
  if (firstEngine === undefined || workerEngines !== undefined) return {};
  const counts = isAlone ? engines : parseTopology(config.topology);
  const earlier = STAGES.slice(0, STAGES.indexOf(role)).map((stage) => counts[stage] ?? 0);
  const first = earlier.reduce((sum, each) => sum + each, firstEngine);
  const number = firstEngine + Math.floor(ordinal / dataParallelSize);
  return { index: first * dataParallelSize + ordinal, number };
}
