import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { PeriodicTimer, ProcessClock, speedUpTimers, Standby } from '@baton/clock';
import type { RedisAddress } from '../address/address';
import { ScriptRunner } from '../scripts/script';
import {
  TransportForeign,
  TransportOutOfMemory,
  TransportRefused,
  TransportUnavailable,
} from '../../port/failures';
import type { BrokerTrouble } from '../../port/transport';
import type { TransportTimes } from '../../times';
import { type MarkingClient, openClient } from './client';
import { asTransportFailure } from './failures';
import { FIND_FOREIGN, typesOf } from '../foreign-keys';
import type { Keys } from '../keys';
import { closesUnanswered, isClosedUnanswered, refusalOf } from './refusals';
import { checkServer, evictsKeys, infoOf } from './server-check';
import type { StandbyData } from './standby-thread';

export type LinkEvent = 'lost' | 'restored' | 'replaced';

/** The repair of one part of the transport after a reconnection, before the link reports it. */
type Restorer = () => Promise<unknown>;

const NO_ANSWER = 'no answer';
const HEARTBEAT_MS = 1_000;
/** Pause after a server has refused a command, for example because it still loads its data. */
const REST_MS = 100;
/** Number of heartbeats between two pings of the subscription. */
const BEATS_PER_PING = 4;
/** A server that ends so many connections without an answer is no Redis, or expects TLS. */
const MAX_CLOSES = 2;
/** Time to live of the key that identifies the data; every process renews it. */
const LIFE_SECONDS = 3_600;
/** Speed at which a Redis server on a busy machine takes the bytes of a call: 4 MB/s. */
const SLOWEST_BYTES_PER_MS = 4_000;

/**
 * Owns the two connections of a process, one for commands and one for subscriptions. The link is up
 * when both work and everything that must be repeated after a reconnection has been sent. It never
 * sends a command twice.
 */
export class RedisLink {
  readonly commands: MarkingClient;
  readonly subscriber: MarkingClient;
  readonly scripts: ScriptRunner;
  private up = false;
  private isSilent = false;
  /** Awake time of the last answer to a call. */
  private answeredMs = 0;
  private refusal: TransportRefused | undefined;
  private closed = false;
  private attempt = 0;
  private life: string | undefined;
  private full = false;
  private evicts = false;
  /** Connections that the server has ended without an answer, before the first that worked. */
  private closes = 0;
  private serverVersion = '';
  private lastError = NO_ANSWER;
  private readonly listeners = new Set<(event: LinkEvent) => void>();
  private readonly restorers: Restorer[] = [];
  private readonly waiters: (() => void)[] = [];
  private heartbeat: PeriodicTimer | undefined;
  private checks = 0;
  readonly processClock: ProcessClock;
  readonly standby: Standby;

  constructor(
    readonly address: RedisAddress,
    readonly keys: Keys,
    private readonly times: TransportTimes,
    /** Called with a warning about the server, which is checked only then. */
    private readonly onWarning?: (warning: string) => void,
  ) {
    this.processClock = new ProcessClock(times);
    const data: StandbyData = { address, times };
    this.standby = new Standby(join(__dirname, 'standby-thread.js'), data);
    this.commands = openClient(address, times.callDeadlineMs);
    this.subscriber = openClient(address, times.callDeadlineMs);
    this.scripts = new ScriptRunner(this.commands);
    for (const client of [this.commands, this.subscriber]) {
      client.onFailure = (error) => this.noteFailure(error);
      client.on('close', () => this.noteLoss());
      client.on('ready', () => void this.restore());
    }
  }

  get isUp(): boolean {
    return this.up;
  }

  /** True when the link is up and has not been without an answer for too long. */
  get isAnswering(): boolean {
    return this.up && !this.isSilent;
  }

  /** As `Transport.trouble`. */
  get trouble(): BrokerTrouble | undefined {
    if (this.evicts) return 'evicting';
    return this.full ? 'full' : undefined;
  }

  get version(): string {
    return this.serverVersion;
  }

  /** Allowed silence of the server: longer after own lateness, as both may share a busy machine. */
  private get quietMs(): number {
    return this.processClock.leaseMs(this.times.silenceMs);
  }

  /**
   * The first connection. @throws TransportUnavailable, with the server's or the system's message,
   * when it fails within the deadline; TransportRefused at once, when no waiting mends it.
   */
  async open(): Promise<void> {
    await Promise.race([this.whenUp(), pause(this.times.callDeadlineMs, '', { ref: false })]);
    if (this.up) {
      this.heartbeat = new PeriodicTimer(HEARTBEAT_MS, () => this.checkConnection());
      return;
    }
    this.close();
    if (this.refusal !== undefined) throw this.refusal;
    const { label } = this.address;
    const isSilentTls = label.startsWith('rediss:') && this.lastError === NO_ANSWER;
    const hint = isSilentTls ? '; if it does not use TLS, write redis://' : '';
    throw new TransportUnavailable(`${label}: ${this.lastError}${hint}`);
  }

  /** Returns the end of listening. */
  onEvent(listener: (event: LinkEvent) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /**
   * `restore` runs before the link counts as up again, in the order of these calls; it must use the
   * clients directly.
   */
  onRestore(restore: Restorer): void {
    this.restorers.push(restore);
  }

  /** Resolves when the link is up, or closed for good. */
  private whenUp(): Promise<void> {
    if (this.up || this.closed) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  /**
   * Like `call`, for commands that a client waits for and whose late effect does no harm. A server
   * without any answer for `quietMs`, and the time that it may take for the `bytes` sent, counts as
   * lost, and no further command is sent until it answers again.
   */
  ask<T>(what: string, send: () => Promise<T>, bytes = 0): Promise<T> {
    if (this.isSilent) return Promise.reject(new TransportUnavailable(`${what}: no answer`));
    return this.call(what, send, () => this.quietMs + bytes / SLOWEST_BYTES_PER_MS);
  }

  /**
   * Sends something with a deadline in awake time: it fails when it takes `callDeadlineMs`, or when
   * the server has answered nothing for `quietMs`, which grows when this process is late meanwhile.
   * A server that answers other calls is busy, not silent. Nothing is sent while the link is down.
   */
  call<T>(
    what: string,
    send: () => Promise<T>,
    quietMs = (): number => this.times.callDeadlineMs,
  ): Promise<T> {
    if (!this.up) return Promise.reject(new TransportUnavailable(`${what}: not connected`));
    return new Promise((resolve, reject) => {
      const { processClock, times } = this;
      const leftMs = (nowMs: number, beganMs: number): number =>
        Math.min(Math.max(beganMs, this.answeredMs) + quietMs(), beganMs + times.callDeadlineMs) -
        nowMs;
      const settle = processClock.whileAwaited(leftMs, () => {
        this.isSilent ||= processClock.awakeMs() - this.answeredMs >= this.quietMs;
        reject(new TransportUnavailable(`${what}: no answer`));
      });
      send().then(
        (value) => {
          this.answeredMs = settle();
          this.isSilent = false;
          resolve(value);
        },
        (error: unknown) => {
          settle();
          reject(asTransportFailure(error, what));
        },
      );
    });
  }

  close(): void {
    this.closed = true;
    this.up = false;
    this.attempt += 1;
    this.heartbeat?.stop();
    this.processClock.stop();
    this.standby.close();
    this.commands.hangUp();
    this.subscriber.hangUp();
    this.release();
  }

  /** A failure of the first connection that no waiting mends ends it. */
  private noteFailure(error: unknown): void {
    this.lastError = describe(error);
    if (this.life !== undefined) return;
    if (isClosedUnanswered(error)) this.closes += 1;
    if (this.closes >= MAX_CLOSES) this.refusal ??= closesUnanswered(this.address);
    this.refusal ??=
      error instanceof TransportRefused ? error : refusalOf(error, this.address, this.keys);
    if (this.refusal !== undefined) this.release();
  }

  private noteLoss(): void {
    this.attempt += 1;
    if (!this.up) return;
    this.up = false;
    this.emit('lost');
  }

  private async restore(): Promise<void> {
    if (this.closed || this.commands.status !== 'ready' || this.subscriber.status !== 'ready')
      return;
    this.attempt += 1;
    const attempt = this.attempt;
    try {
      const life = await this.readLife();
      const foreign = await this.findForeign();
      if (foreign !== undefined) throw foreign;
      if (this.life === undefined && this.onWarning !== undefined)
        this.onWarning(await checkServer(this));
      for (const restorer of this.restorers) await restorer();
      if (attempt === this.attempt) this.noteUp(life);
    } catch (error) {
      this.noteFailure(error);
      if (this.refusal !== undefined) return;
      await pause(error instanceof TransportForeign ? HEARTBEAT_MS : REST_MS, '', { ref: false });
      // A server that refuses commands gets a new connection; ioredis reconnects to a lost one.
      if (attempt === this.attempt) this.commands.disconnect(true);
    }
  }

  private noteUp(life: string): void {
    const previous = this.life;
    this.life = life;
    this.up = true;
    this.isSilent = false;
    this.release();
    if (previous !== undefined) this.emit(previous === life ? 'restored' : 'replaced');
  }

  /**
   * Identifies the data. Run id and count of evicted keys identify that of a single server, if the
   * user may ask for them; a key that is lost together with the data identifies it anywhere.
   */
  private async readLife(): Promise<string> {
    const info = await infoOf(this.commands);
    this.serverVersion =
      info === undefined ? this.serverVersion || (await this.askVersion()) : versionIn(info);
    const compatible = /^redis_version:(\S+)/m.exec(info ?? '')?.[1] ?? this.serverVersion;
    this.commands.understandsFlags = Number.parseInt(compatible, 10) >= 7;
    this.evicts = info !== undefined && evictsKeys(info);
    const dataId = await this.readDataId();
    const fieldOf = (name: string): string =>
      new RegExp(`^${name}:(\\S+)`, 'm').exec(info ?? '')?.[1] ?? '';
    return this.address.kind === 'single'
      ? `${fieldOf('run_id')} ${fieldOf('evicted_keys')} ${dataId}`
      : dataId;
  }

  /** The key that is lost with the data: made if it is not there, and kept alive. */
  private async readDataId(): Promise<string> {
    const { commands, keys } = this;
    const [, id] = await Promise.all([
      commands.set(keys.life, crypto.randomUUID(), 'EX', LIFE_SECONDS, 'NX').then(
        () => (this.full = false),
        (error: unknown) => {
          this.full = asTransportFailure(error, 'set') instanceof TransportOutOfMemory;
          if (!this.full) throw error;
        },
      ),
      commands.getex(keys.life, 'EX', LIFE_SECONDS),
    ]);
    return id ?? '';
  }

  /** The version by another command, for a user who may not ask INFO; '' when both are denied. */
  private async askVersion(): Promise<string> {
    const reply = await this.commands.call('HELLO').catch(() => []);
    const fields = Array.isArray(reply) ? reply.map(String) : [];
    return fields[fields.indexOf('version') + 1] ?? '';
  }

  private async findForeign(): Promise<TransportForeign | undefined> {
    const types = typesOf(this.keys);
    const names = types.map(([key]) => key);
    const wanted = types.map(([, type]) => type);
    const found = await this.scripts.run(FIND_FOREIGN, names, wanted);
    if (!Array.isArray(found)) return undefined;
    const [key, type, other] = (found as readonly string[]).map(String);
    return new TransportForeign(this.keys.prefix, `${key} is a ${type}, not a ${other}`);
  }

  private release(): void {
    for (const resolve of this.waiters.splice(0)) resolve();
  }

  private emit(event: LinkEvent): void {
    speedUpTimers();
    for (const listener of this.listeners) listener(event);
  }

  /**
   * Checks that the server still has the data, and at times that the keys still belong to Baton. If
   * not, a new connection writes again what must be there. With `socketTimeout`, a ping without an
   * answer ends the connection, also that of a silent subscription.
   */
  private checkConnection(): void {
    if (!this.up) return;
    this.checks += 1;
    const reconnectIf = (isWrong: boolean): void => {
      if (isWrong && this.up) this.commands.disconnect(true);
    };
    const quietMs = (): number => this.quietMs;
    this.call('look for the data', () => this.readLife(), quietMs)
      .then((life) => reconnectIf(life !== this.life))
      .catch(ignore);
    this.call('look for foreign keys', () => this.findForeign(), quietMs)
      .then((foreign) => reconnectIf(foreign !== undefined))
      .catch(ignore);
    if (this.checks % BEATS_PER_PING !== 0) return;
    this.subscriber.ping().catch(ignore);
  }
}

function versionIn(info: string): string {
  return /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1] ?? '';
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

function ignore(): void {
  // The connection's own events report the failure.
}
