import { type Alarm, areTimersSlow, type WallClock } from '@baton/clock';
import type { EngineLoad } from '@baton/contract';
import type { EngineIdentity } from '../../live-engine/engine/engine-identity';
import type { EngineSlot } from '../../live-engine/engine/engine-slot';
import type { IncomingRuns, RunTable } from '../../live-engine/runs/run';
import { type Bus, channels } from '@baton/transport';
import type { TakenJobs } from '../jobs/taken-jobs';
import type { DriverOptions } from '../options';
import { adaptersIn } from './engine-gauges';

const LOOK_EVERY_US = 100_000;
/** An unchanged load is published at every third check, as a sign of life. */
const LOOKS_PER_SIGN = 3;

export interface LoadBeaconParts {
  readonly identity: EngineIdentity;
  readonly options: Pick<DriverOptions, 'facts'>;
  readonly bus: Bus;
  readonly wall: WallClock;
  readonly slot: EngineSlot;
  readonly runs: RunTable;
  readonly incoming: IncomingRuns;
  readonly takenJobs: TakenJobs;
}

/** Publishes the load of this engine; runs only when a placement policy uses it. */
export class LoadBeacon {
  private alarm: Alarm | undefined;
  private looks = 0;
  private published = '';
  /** Value of the last check. */
  private requests = 0;

  constructor(private readonly parts: LoadBeaconParts) {}

  start(): void {
    const look = (): void => {
      this.looks += areTimersSlow() ? LOOKS_PER_SIGN : 1;
      this.publishChange(JSON.stringify(this.load()));
    };
    this.alarm = this.parts.wall.onTicks(LOOK_EVERY_US, look, () => this.requests === 0);
  }

  /** Publishes immediately after a change of state. */
  tellNow(): void {
    if (this.alarm === undefined) return;
    this.published = '';
    this.publishChange(JSON.stringify(this.load()));
  }

  stop(): void {
    this.alarm?.cancel();
  }

  private publishChange(load: string): void {
    if (load === this.published && this.looks < LOOKS_PER_SIGN) return;
    this.looks = 0;
    this.published = load;
    this.parts.bus.publish(channels.loads, Buffer.from(load));
  }

  private load(): EngineLoad {
    const { identity, options, slot, runs, incoming, takenJobs } = this.parts;
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
    const { slot, runs } = this.parts;
    const { engine } = slot;
    let tokens = 0;
    for (const { emitted, handle, fetching, job } of runs.all()) {
      if (emitted > 0 || handle < 0 || fetching !== undefined) continue;
      tokens += job.promptTokens - engine.cachedTokens(handle);
    }
    return tokens;
  }
}
