import { type Alarm, areTimersSlow } from '@baton/clock';
import type { EngineLoad } from '@baton/contract';
import { channels } from '@baton/transport';
import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { EngineIdentity } from '../run/engine/engine-identity';
import { EngineSlot } from '../run/engine/engine-slot';
import { TakenJobs } from '../run/jobs/taken-jobs';
import { IncomingRuns, RunTable } from '../run/runs/run';
import { Bus, HostOptions, Wall } from '../run/tokens';
import { adaptersIn } from './engine-gauges';

const LOOK_EVERY_US = 100_000;
/** An unchanged load is published at every third check, as a sign of life. */
const LOOKS_PER_SIGN = 3;

/** Publishes the load of this engine; runs only when a placement policy uses it. */
@Injectable()
export class LoadBeacon implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private alarm: Alarm | undefined;
  private looks = 0;
  private published = '';
  /** Value of the last check. */
  private requests = 0;

  constructor(
    private readonly identity: EngineIdentity,
    private readonly options: HostOptions,
    private readonly bus: Bus,
    private readonly wall: Wall,
    private readonly slot: EngineSlot,
    private readonly runs: RunTable,
    private readonly incoming: IncomingRuns,
    private readonly takenJobs: TakenJobs,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.options.publishesLoad) return;
    const look = (): void => {
      this.looks += areTimersSlow() ? LOOKS_PER_SIGN : 1;
      this.publishChange(JSON.stringify(this.load()));
    };
    this.alarm = this.wall.onTicks(LOOK_EVERY_US, look, () => this.requests === 0);
  }

  /** Publishes immediately after a change of state. */
  tellNow(): void {
    if (this.alarm === undefined) return;
    this.published = '';
    this.publishChange(JSON.stringify(this.load()));
  }

  beforeApplicationShutdown(): void {
    this.alarm?.cancel();
  }

  private publishChange(load: string): void {
    if (load === this.published && this.looks < LOOKS_PER_SIGN) return;
    this.looks = 0;
    this.published = load;
    this.bus.publish(channels.loads, Buffer.from(load));
  }

  private load(): EngineLoad {
    const { identity, options, slot, runs, incoming, takenJobs } = this;
    const { engineId, role, index, state, dataParallel } = identity;
    const now = slot.engine.snapshot();
    this.requests = now.running + now.waiting + now.deferred + incoming.sequences;
    const { numBlocks } = options.facts;
    return {
      engineId,
      stage: role,
      index,
      state,
      ...(areTimersSlow() ? { isSlow: true } : {}),
      ...(dataParallel === undefined ? {} : { rank: dataParallel.rank }),
      requests: this.requests,
      waitingRequests: now.waiting + now.deferred + incoming.sequences,
      waitingTokens: incoming.promptTokens + Math.max(this.promptTokens(), now.waitingTokens),
      usedBlocks: numBlocks - now.freeBlocks,
      numBlocks,
      ...adaptersIn(runs.all()),
      taken: takenJobs.byRouter(),
    };
  }

  /** All uncached tokens of unfinished prompts, because their partial progress is not known. */
  private promptTokens(): number {
    const { slot, runs } = this;
    const { engine } = slot;
    let tokens = 0;
    for (const { emitted, handle, fetching, job } of runs.all()) {
      if (emitted > 0 || handle < 0 || fetching !== undefined) continue;
      tokens += job.promptTokens - engine.cachedTokens(handle);
    }
    return tokens;
  }
}
