import type { Alarm, WallClock } from '@baton/clock';
import type { EnginePresence } from '@baton/contract';
import type { EngineIdentity } from '@baton/live-engine';
import type { Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import type { DriverOptions } from '../options';
import type { EngineNumbers } from './engine-numbers';

/** An idle engine announces itself every second; one whose numbers change, five times a second. */
const LOOK_EVERY_US = 200_000;
const LOOKS_PER_SECOND = 5;

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
      const isDue = this.looks >= LOOKS_PER_SECOND || numbers.fingerprint() !== this.announced;
      if (!isDue || this.isAnnouncing || !transport.isConnected) return;
      this.announce().catch((error: unknown) => {
        log.debug({ err: error }, 'presence not announced');
      });
    });
  }

  private async announce(): Promise<void> {
    const { identity, numbers, options, transport } = this.parts;
    const { presence, punctuality } = transport;
    this.isAnnouncing = true;
    this.looks = 0;
    this.announced = numbers.fingerprint();
    try {
      if (!this.hasIndex) identity.index = await presence.claimIndex(identity.engineId);
      const ttlMs = Math.round(punctuality.leaseMs(options.presenceTtlMs));
      this.hasIndex = await presence.announceEngine(numbers.snapshot(), ttlMs);
      // The next check claims an index and announces it.
      if (!this.hasIndex) this.announced = '';
    } finally {
      this.isAnnouncing = false;
    }
  }
}
