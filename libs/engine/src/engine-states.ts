import type { SequenceHandle } from './types';

export interface CacheState {
  readonly contents: number[];
  readonly freeOrder: number[];
  readonly hostContents: number[];
}

export interface QueueState {
  readonly batch: (readonly [SequenceHandle, tokens: number])[];
  readonly waiting: SequenceHandle[];
}
