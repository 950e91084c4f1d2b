import type { Alarm, LiveClock } from '@baton/clock';
import { startupLength, type Micros, startupPhases } from '@baton/kernel';
import type { EngineIdentity } from '../../live-engine/engine/engine-identity';
import type { Transport } from '@baton/transport';
import type { DriverOptions } from '../options';
import { readyPeers, type WarmStart } from './warm-start';

export interface StartupParts {
  readonly identity: EngineIdentity;
  readonly options: Pick<DriverOptions, 'startupUs' | 'startup' | 'fetchesCache'>;
  readonly transport: Pick<Transport, 'presence'>;
  readonly clock: LiveClock;
  readonly warmStart: WarmStart;
}

/**
 * The start of an engine: it loads, one cause after the other, and fetches a cache. The heartbeats
 * of its presence name the cause under way.
 */
export class Startup {
  private alarm: Alarm | undefined;
  private isStopped = false;

  constructor(private readonly parts: StartupParts) {}

  /** Whether it takes no time. */
  get isInstant(): boolean {
    const { startupUs, fetchesCache = false } = this.parts.options;
    return startupUs === 0 && !fetchesCache;
  }

  /** Resolves when the engine can take work; never after `stop`. */
  async run(): Promise<void> {
    const { identity, options, clock, warmStart } = this.parts;
    const beganUs = clock.nowUs();
    const phases = startupPhases(options, await this.hasPeer());
    let untilUs = beganUs;
    for (const { cause, us } of phases) {
      untilUs += us;
      identity.loading = cause;
      await this.waitUntil(untilUs);
    }
    if (options.fetchesCache === true) {
      identity.loading = 'cache';
      await warmStart.fetch(beganUs + startupLength(phases));
    }
    identity.loading = undefined;
  }

  stop(): void {
    this.isStopped = true;
    this.alarm?.cancel();
    this.parts.warmStart.stop();
  }

  /** A peer changes the start only when the configuration has a cause for it. */
  private async hasPeer(): Promise<boolean> {
    const { startup } = this.parts.options;
    return startup !== undefined && (await readyPeers(this.parts)).length > 0;
  }

  private async waitUntil(atUs: Micros): Promise<void> {
    await new Promise<void>((done) => {
      if (!this.isStopped) this.alarm = this.parts.clock.atSim(atUs, done);
    });
  }
}
