import type {
  AdmissionResult,
  EngineCounters,
  EnginePort,
  EngineSnapshot,
  Reservation,
  StepFacts,
} from '@baton/engine';
import { assert } from '@baton/kernel';
import type { FreeContents } from '@baton/kvcache';

const NOTHING: EngineCounters = {
  steps: 0,
  promptTokensComputed: 0,
  promptTokensCached: 0,
  promptTokensLoadedFromHost: 0,
  promptTokensFetched: 0,
  promptTokensTransferred: 0,
  generatedTokens: 0,
  preemptions: 0,
  prefixQueriesTokens: 0,
  prefixHitsTokens: 0,
  finished: 0,
  aborted: 0,
  rejected: 0,
  drafts: 0,
  draftTokens: 0,
  acceptedTokens: 0,
};

/**
 * Takes the place of the simulated engine when a server does the work. It has no work of its own,
 * and only counts running requests.
 */
export class IdleEngine implements EnginePort {
  readonly counters = NOTHING;
  readonly acceptedPerPosition: readonly number[] = [];
  readonly hasAdmitted = false;
  readonly bringsFirstTokens = false;
  readonly cachedBlocks = 0;

  /** Number of requests under way on the server. */
  running: () => number = () => 0;

  constructor(private readonly numBlocks: number) {}

  submit(): AdmissionResult {
    return { kind: 'refused', why: 'exceeds-context' };
  }

  reserveNext(): Reservation | undefined {
    return undefined;
  }

  kvArrived(): void {}

  kvFailed(): void {}

  abort(): void {}

  releaseHeld(): void {}

  resetPrefixCache(): boolean {
    return true;
  }

  sharedCache(): FreeContents {
    return { freeOrder: [], freeGroups: [] };
  }

  beginStep(): undefined {
    return undefined;
  }

  formStep(): undefined {
    return undefined;
  }

  stepEndBeside(): number {
    return 0;
  }

  endStepAt(): void {}

  isUnfinished(): boolean {
    return false;
  }

  nextUs(): number {
    return 0;
  }

  advanceTo(): void {}

  endStep(): StepFacts {
    assert(false, 'an idle engine has no step');
  }

  hasWork(): boolean {
    return false;
  }

  isRunning(): boolean {
    return false;
  }

  tokensEmitted(): number {
    return 0;
  }

  tokensInStep(): number {
    return 0;
  }

  tokenIndex(): number {
    return 0;
  }

  tokenOffsetUs(): number {
    return 0;
  }

  cachedTokens(): number {
    return 0;
  }

  computedTokens(): number {
    return 0;
  }

  blockIds(): number[] {
    return [];
  }

  snapshot(): EngineSnapshot {
    return {
      running: this.running(),
      waiting: 0,
      deferred: 0,
      waitingTokens: 0,
      freeBlocks: this.numBlocks,
      heldBlocks: 0,
      leaving: 0,
      kvUsage: 0,
    };
  }
}
