import type { Alarm } from '@baton/clock';
import type { EngineLoad } from '@baton/contract';
import { channels } from '@baton/transport';
import type { Intake } from '../jobs/intake';
import type { HostContext } from './host-context';
import type { PresenceBeacon } from './presence';

const LOOK_EVERY_US = 100_000;
/** A load that has not changed is told with every third look, as a sign of life. */
const LOOKS_PER_SIGN = 3;

export interface LoadSources {
  readonly intake: Intake;
  readonly presence: PresenceBeacon;
}

/** Tells routers how much this engine has to do; runs only where somebody places by it. */
export class LoadBeacon {
  private alarm: Alarm | undefined;
  private looks = 0;
  private told = '';

  constructor(
    private readonly context: HostContext,
    private readonly sources: LoadSources,
  ) {}

  start(): void {
    const { wall } = this.context.clock;
    this.alarm = wall.around(wall.nowUs() + LOOK_EVERY_US, () => {
      this.start();
      this.looks += 1;
      this.tell(JSON.stringify(this.load()));
    });
  }

  /** At once, after a change of state. */
  tellNow(): void {
    if (this.alarm === undefined) return;
    this.told = '';
    this.tell(JSON.stringify(this.load()));
  }

  stop(): void {
    this.alarm?.cancel();
  }

  private tell(load: string): void {
    if (load === this.told && this.looks < LOOKS_PER_SIGN) return;
    this.looks = 0;
    this.told = load;
    this.context.transport.bus.publish(channels.loads, Buffer.from(load));
  }

  private load(): EngineLoad {
    const { engine, engineId, options } = this.context;
    const { intake, presence } = this.sources;
    const now = engine.snapshot();
    const { numBlocks } = options.facts;
    return {
      engineId,
      stage: options.role,
      index: presence.index,
      state: presence.state,
      ...(options.dataParallel === undefined ? {} : { rank: options.dataParallel.rank }),
      requests: now.running + now.waiting + now.deferred + intake.incomingSequences,
      waitingTokens: intake.incomingPromptTokens + Math.max(this.promptTokens(), now.waitingTokens),
      usedBlocks: numBlocks - now.freeBlocks,
      numBlocks,
      taken: intake.takenByRouter(),
    };
  }

  /** Of prompts that are not done, all that is not cached: the engine does not tell how far it has come with them. */
  private promptTokens(): number {
    const { engine, runs } = this.context;
    let tokens = 0;
    for (const { emitted, handle, fetching, job } of runs.all()) {
      if (emitted > 0 || handle < 0 || fetching !== undefined) continue;
      tokens += job.promptTokens - engine.cachedTokens(handle);
    }
    return tokens;
  }
}
