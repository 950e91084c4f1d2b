import { type Alarm, LiveClock } from '@baton/clock';
import { type Micros, startupLength, startupPhases } from '@baton/kernel';
import { Injectable } from '@nestjs/common';
import { EngineIdentity } from '../run/engine/engine-identity';
import { Broker, HostOptions } from '../run/tokens';
import { readyPeers, WarmStart } from './warm-start';

/**
 * The start of an engine: it loads, one cause after the other, and fetches a cache. The heartbeats
 * of its presence name the cause under way.
 */
@Injectable()
export class Startup {
  private alarm: Alarm | undefined;
  private isStopped = false;

  constructor(
    private readonly identity: EngineIdentity,
    private readonly options: HostOptions,
    private readonly transport: Broker,
    private readonly clock: LiveClock,
    private readonly warmStart: WarmStart,
  ) {}

  /** Whether it takes no time. */
  get isInstant(): boolean {
    const { startupUs, fetchesCache = false } = this.options;
    return startupUs === 0 && !fetchesCache;
  }

  /** Resolves when the engine can take work; never after `stop`. */
  async run(): Promise<void> {
    const { identity, options, clock, warmStart } = this;
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
    this.warmStart.stop();
  }

  /** A peer changes the start only when the configuration has a cause for it. */
  private async hasPeer(): Promise<boolean> {
    const { startup } = this.options;
    return (
      startup !== undefined &&
      (await readyPeers({ transport: this.transport, identity: this.identity })).length > 0
    );
  }

  private async waitUntil(atUs: Micros): Promise<void> {
    await new Promise<void>((done) => {
      if (!this.isStopped) this.alarm = this.clock.atSim(atUs, done);
    });
  }
}
