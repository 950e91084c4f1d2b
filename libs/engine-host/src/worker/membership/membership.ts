import { SystemWallClock, type WallClock } from '@baton/clock';
import { type BatonConfig, engineSetup, UsageError } from '@baton/config';
import { BatonError, type MembershipOrder, type Stage } from '@baton/contract';
import { MAX_ENGINES } from '@baton/policies';
import { channels, type Transport } from '@baton/transport';
import { type MemberEngine, memberEngines, readyCounts } from './member-engine';

/** Starts further engines: a supervisor, or a process that contains the whole cluster. */
export interface EngineStarter {
  /**
   * Resolves when their start has begun.
   *
   * @throws UsageError when such engines are impossible; BatonError `no_supervisor` without an
   * answer
   */
  start(role: Stage, count: number): Promise<void>;
  /**
   * Ends processes that are not ready; resolves to their number. Unset: all engines start together.
   */
  cancel?(): Promise<number>;
}

export interface MembershipOptions {
  readonly config: BatonConfig;
  readonly transport: Transport;
  /** Unset: engines can leave and change, but not join. */
  readonly starter?: EngineStarter | undefined;
  /** Default: the machine's clock. */
  readonly wall?: WallClock;
}

/** Wall µs between two checks whether an order has been carried out. */
const LOOK_EVERY_US = 50_000;
/** The bus may lose a message: every fifth check repeats the order. */
const LOOKS_PER_ORDER = 5;
const OBEYED_WITHIN_US = 5_000_000;

/**
 * The members of the cluster, and the orders that change it. Orders go to the engines over the bus
 * and are done when the presences show it. Orders run one after the other, so that no two choose
 * the same engine.
 */
export class LiveMembership {
  private last: Promise<unknown> = Promise.resolve();
  private readonly wall: WallClock;

  constructor(private readonly options: MembershipOptions) {
    this.wall = options.wall ?? new SystemWallClock();
  }

  async engines(): Promise<MemberEngine[]> {
    return memberEngines(await this.options.transport.presence.engines());
  }

  /**
   * Starts engines, which load for `startup_duration` before they take work.
   *
   * @throws BatonError `no_supervisor`, `invalid_value`
   */
  join(role: Stage, count: number): Promise<void> {
    return this.inTurn(async () => {
      const { starter } = this.options;
      if (starter === undefined) throw new BatonError('no_supervisor');
      await this.refuseCrowd(count);
      await refused(() => starter.start(role, count), 'count');
    });
  }

  /**
   * Cancels engines that have not joined yet; resolves to the number of cancelled processes.
   *
   * @throws BatonError `no_supervisor`
   */
  async cancelJoins(): Promise<number> {
    const { starter } = this.options;
    if (starter === undefined) throw new BatonError('no_supervisor');
    return (await starter.cancel?.()) ?? 0;
  }

  /**
   * Resolves with the engine once it drains: it takes no more work, and leaves when it is empty. An
   * engine that already drains is not changed.
   *
   * @param wanted  name or id of the engine
   * @throws BatonError `engine_not_found`, `engine_needed`, `engine_silent`
   */
  leave(wanted: string): Promise<MemberEngine> {
    return this.inTurn(async () => {
      const engine = await this.assertDispensable(wanted);
      if (engine.state !== 'draining') await this.give(engine, { kind: 'leave' });
      return engine;
    });
  }

  /**
   * Like `leave`; its place then starts as an engine of `role`.
   *
   * @throws BatonError as `leave`, and `engine_leaving`, `invalid_value`
   */
  changeRole(wanted: string, role: Stage): Promise<MemberEngine> {
    return this.inTurn(async () => {
      const engine = await this.assertDispensable(wanted);
      if (engine.state === 'draining') throw new BatonError('engine_leaving');
      if (engine.role === role) {
        throw new BatonError('invalid_value', `The engine is a ${role} engine already.`, 'role');
      }
      await refused(() => void engineSetup(this.options.config, role), 'role');
      await this.give(engine, { kind: 'become', role });
      return engine;
    });
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work);
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private async refuseCrowd(count: number): Promise<void> {
    const { dataParallelSize } = this.options.config;
    const present = await this.options.transport.presence.engines();
    const ranks = present.length + count * dataParallelSize;
    if (ranks <= MAX_ENGINES) return;
    const message =
      `${count} more engines would be ${ranks} in all, and a cluster has at most ` +
      `${MAX_ENGINES}.`;
    throw new BatonError('invalid_value', message, 'count');
  }

  /**
   * @throws BatonError when no engine of its role would be left, so that its jobs would wait
   * forever
   */
  private async assertDispensable(wanted: string): Promise<MemberEngine> {
    const engines = await this.engines();
    const isMeant = (engine: MemberEngine): boolean =>
      engine.name === wanted ||
      engine.ranks.some(({ engineId, name }) => engineId === wanted || name === wanted);
    const engine = engines.find(isMeant);
    if (engine === undefined) {
      throw new BatonError('engine_not_found', `The engine '${wanted}' does not exist.`);
    }
    const { role, state } = engine;
    if (state !== 'ready' || readyCounts(engines)[role] > 1) return engine;
    const message =
      `It is the last ${role} engine that is ready, and requests for this role would wait ` +
      'forever. Start another one first.';
    throw new BatonError('engine_needed', message);
  }

  private async give({ engineId }: MemberEngine, order: MembershipOrder): Promise<void> {
    const { bus } = this.options.transport;
    const deadlineUs = this.wall.nowUs() + OBEYED_WITHIN_US;
    const payload = Buffer.from(JSON.stringify(order));
    for (let look = 0; this.wall.nowUs() < deadlineUs; look += 1) {
      if (look % LOOKS_PER_ORDER === 0) bus.publish(channels.engine(engineId), payload);
      await new Promise<void>((done) => this.wall.at(this.wall.nowUs() + LOOK_EVERY_US, done));
      if (await this.isObeyed(engineId)) return;
    }
    throw new BatonError('engine_silent');
  }

  private async isObeyed(engineId: string): Promise<boolean> {
    const engines = await this.engines();
    const engine = engines.find((each) => each.engineId === engineId);
    return engine === undefined || engine.ranks.every(({ state }) => state === 'draining');
  }
}

/** An order that the configuration does not allow is a client error. */
async function refused(work: () => Promise<void> | void, param: string): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new BatonError('invalid_value', error.message, param);
  }
}
