import { type Alarm, speedUpTimers } from '@baton/clock';
import type { EnginePresence } from '@baton/contract';
import { nameParts } from '@baton/kernel';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { endQuietly } from '../run/engine/end-quietly';
import { EngineIdentity } from '../run/engine/engine-identity';
import { Broker, HostOptions, Log, Wall } from '../run/tokens';
import { EngineNumbers } from './engine-numbers';

/**
 * An engine whose numbers change announces itself five times a second. An idle one looks once a
 * second and renews its entry; every fifth time it also compares the numbers that no event changes.
 */
const LOOK_EVERY_US = 200_000;
/** One second, less the time by which a timer may fire early. */
const RENEW_AFTER_US = 990_000;
const RENEWALS = 4;

/** Announces this engine to the cluster, with its state and all its numbers. */
@Injectable()
export class PresenceBeacon implements OnApplicationShutdown {
  private alarm: Alarm | undefined;
  private isAnnouncing = false;
  /** Instant of the latest announcement or renewal. */
  private sentUs = 0;
  private renewals = 0;
  /** The fingerprint of the announced numbers. */
  private announced = '';
  private announcement: EnginePresence | undefined;
  private hasPlace = false;

  constructor(
    private readonly identity: EngineIdentity,
    private readonly options: HostOptions,
    private readonly transport: Broker,
    private readonly wall: Wall,
    private readonly numbers: EngineNumbers,
    private readonly log: Log,
  ) {}

  /** Resolves when this engine is announced for the first time. */
  async start(): Promise<void> {
    // The check calls `speedUpTimers` itself when something has changed.
    const mayBeSlow = (): boolean => true;
    this.alarm = this.wall.onTicks(LOOK_EVERY_US, () => this.look(), mayBeSlow);
    await this.announce();
  }

  /** Announces at once, after a change of state. */
  async enter(state: EnginePresence['state']): Promise<void> {
    this.identity.state = state;
    await this.announce();
  }

  async onApplicationShutdown(): Promise<void> {
    const { transport, identity, log } = this;
    this.alarm?.cancel();
    await endQuietly(transport.presence.removeEngine(identity.engineId), log);
  }

  private look(): void {
    const { wall, numbers, transport, log } = this;
    const hasChanged = numbers.fingerprint() !== this.announced;
    if (hasChanged) speedUpTimers();
    else if (wall.nowUs() - this.sentUs < RENEW_AFTER_US) return;
    if (this.isAnnouncing || !transport.isConnected) return;
    const isNews = hasChanged || this.hasOtherNumbers();
    (isNews ? this.announce() : this.renew()).catch((error: unknown) => {
      log.debug({ err: error }, 'presence not announced');
    });
  }

  /** At every fifth renewal: whether numbers have changed without an event. */
  private hasOtherNumbers(): boolean {
    if (this.renewals < RENEWALS) return false;
    this.renewals = 0;
    return !isDeepStrictEqual(this.numbers.snapshot(), this.announcement);
  }

  /** An entry that has expired is announced at the next check. */
  private async renew(): Promise<void> {
    const { identity, transport, wall } = this;
    this.sentUs = wall.nowUs();
    this.renewals += 1;
    if (!(await transport.presence.renewEngine(identity.engineId, this.ttlMs))) this.announced = '';
  }

  private get ttlMs(): number {
    const { options, transport } = this;
    return transport.processClock.leaseMs(options.presenceTtlMs);
  }

  private async announce(): Promise<void> {
    const { numbers, transport, wall } = this;
    const { presence } = transport;
    this.isAnnouncing = true;
    this.sentUs = wall.nowUs();
    this.renewals = 0;
    try {
      if (!this.hasPlace) await this.claimPlace();
      this.announcement = numbers.snapshot();
      this.announced = numbers.fingerprint();
      this.hasPlace = await presence.announceEngine(this.announcement, this.ttlMs);
      // The next check claims another place and announces it.
      if (!this.hasPlace) this.announced = '';
    } finally {
      this.isAnnouncing = false;
    }
  }

  /** Ranks of one engine share the number of rank 0, which is announced first. */
  private async claimPlace(): Promise<void> {
    const { identity, log, transport } = this;
    const { engineId, role, dataParallel } = identity;
    const { presence } = transport;
    const { rank, leader } = dataParallel ?? {};
    identity.index = await presence.claimNumber(engineId, identity.index);
    identity.number =
      leader !== undefined && rank !== 0
        ? leader().number
        : await presence.claimNumber(engineId, identity.number, nameParts(role, rank));
    log.setBindings({ engine: identity.name });
  }
}
