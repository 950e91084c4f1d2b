import { type AnyId, type Chain, type ChainLink, type Micros, newDeadline } from '@baton/kernel';
import type { FetchView, SourceName } from './target-protocol';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface RunOfFetch<Id extends AnyId> {
  readonly requestId: Id;
  readonly epoch: number;
  readonly source: SourceName<Id>;
}

/**
 * One run's fetch of one prompt's KV, from acceptance to its end; a link in the chain of its
 * source's fetches.
 */
export class Fetch<Id extends AnyId> implements ChainLink<Fetch<Id>> {
  epoch = 0;
  readonly source: Mutable<SourceName<Id>>;
  state: FetchView['state'] = 'accepted';
  /** True until the source has received a message about the fetch. */
  isUnannounced = false;
  missingTokens = 0;
  missingBlocks = 0;
  /** The first and the newest request number of the read; 0 before the first request. */
  firstAttempt = 0;
  attempt = 0;
  tries = 0;
  /** Deadline for the answer to the newest request. */
  readonly question = newDeadline<Fetch<Id>>(this);
  /** The missing tokens and blocks that the source has, and the start of their transfer. */
  tokens = 0;
  blocks = 0;
  startedUs: Micros = 0;
  chain: Chain<Fetch<Id>> | undefined = undefined;
  previous: Fetch<Id> | undefined = undefined;
  next: Fetch<Id> | undefined = undefined;

  constructor(
    public requestId: Id,
    source: SourceName<Id>,
  ) {
    this.source = { ...source };
  }

  /** Reuses this object as the fetch of that run. */
  begin({ requestId, epoch, source }: RunOfFetch<Id>): void {
    this.requestId = requestId;
    this.epoch = epoch;
    this.source.engineId = source.engineId;
    this.source.requestId = source.requestId;
    this.source.epoch = source.epoch;
    this.source.generation = source.generation;
    this.state = 'accepted';
    this.missingTokens = 0;
    this.missingBlocks = 0;
    this.firstAttempt = 0;
    this.attempt = 0;
    this.tries = 0;
    this.tokens = 0;
    this.blocks = 0;
    this.startedUs = 0;
  }
}

export function viewOfFetch<Id extends AnyId>(fetch: Fetch<Id>): FetchView<Id> {
  const { requestId, epoch, state, source, attempt, missingTokens } = fetch;
  return { requestId, epoch, state, sourceId: source.engineId, attempt, missingTokens };
}
