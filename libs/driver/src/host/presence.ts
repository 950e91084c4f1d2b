import type { Alarm, WallClock } from '@baton/clock';
import type { EnginePresence } from '@baton/contract';
import type { EngineIdentity } from '@baton/live-engine';
import type { Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import type { DriverOptions } from '../options';
import type { EngineNumbers } from './engine-numbers';

/**
 * An engine whose numbers change announces itself five times a second. An idle one only renews its
 * entry, once a second; every fifth time it announces itself again, for numbers that no event
 * changes.
 */
const LOOK_EVERY_US = 200_000;
const LOOKS_PER_SECOND = 5;
const RENEWALS = 4;

export interface PresenceParts {
  readonly identity: EngineIdentity;
  readonly options: Pick<DriverOptions, 'presenceTtlMs'>;
  readonly transport: Pick<Transport, 'presence' | 'punctuality' | 'isConnected'>;
  readonly wall: WallClock;
  readonly numbers: EngineNumbers;
  readonly log: Logger;
}

/** Announces this engine to the cluster, with its state and all its numbers. */
export class PresenceBeacon {
  private alarm: Alarm | undefined;
  private isAnnouncing = false;
  private looks = 0;
  private renewals = 0;
  private announced = '';
  private hasIndex = false;

  constructor(private readonly parts: PresenceParts) {}

  /** Resolves when this engine is announced for the first time. */
  async start(): Promise<void> {
    this.repeat();
    await this.announce();
  }

  /** Announces at once, after a change of state. */
  async enter(state: EnginePresence['state']): Promise<void> {
    this.parts.identity.state = state;
    await this.announce();
  }

  async stop(): Promise<void> {
    const { transport, identity } = this.parts;
    this.alarm?.cancel();
    await transport.presence.removeEngine(identity.engineId);
  }

  private repeat(): void {
    const { wall, numbers, transport, log } = this.parts;
    this.alarm = wall.atBeat(LOOK_EVERY_US, () => {
      this.repeat();
      this.looks += 1;
      const hasChanged = numbers.fingerprint() !== this.announced;
      if (!hasChanged && this.looks < LOOKS_PER_SECOND) return;
      if (this.isAnnouncing || !transport.isConnected) return;
      const isRenewal = !hasChanged && this.renewals < RENEWALS;
      (isRenewal ? this.renew() : this.announce()).catch((error: unknown) => {
        log.debug({ err: error }, 'presence not announced');
      });
    });
  }

  /** An entry that has expired is announced at the next check. */
  private async renew(): Promise<void> {
    const { identity, transport } = this.parts;
    this.looks = 0;
    this.renewals += 1;
    if (!(await transport.presence.renewEngine(identity.engineId, this.ttlMs))) this.announced = '';
  }

  private get ttlMs(): number {
    const { options, transport } = this.parts;
    return Math.round(transport.punctuality.leaseMs(options.presenceTtlMs));
  }

  private async announce(): Promise<void> {
    const { identity, numbers, transport } = this.parts;
    const { presence } = transport;
    this.isAnnouncing = true;
    this.looks = 0;
    this.renewals = 0;
    try {
      if (!this.hasIndex) identity.index = await presence.claimIndex(identity.engineId);
      const snapshot = numbers.snapshot();
      this.announced = numbers.fingerprint();
      this.hasIndex = await presence.announceEngine(snapshot, this.ttlMs);
      // The next check claims an index and announces it.
      if (!this.hasIndex) this.announced = '';
    } finally {
      this.isAnnouncing = false;
    }
  }
}
