import { type Chain, type ChainLink, type Deadline, type Micros, NOT_YET } from '@baton/kernel';
import type { FetchView, SourceName } from './target-protocol';
import type { AnyId } from './request-table';

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
  readonly requestId: Id;
  readonly epoch: number;
  readonly source: SourceName<Id>;
  state: FetchView['state'] = 'accepted';
  /** True until the source has received a message about the fetch. */
  isUnannounced = false;
  missingTokens = 0;
  missingBlocks = 0;
  /** The first and the newest request number of the read; 0 before the first request. */
  firstAttempt = 0;
  attempt = 0;
  tries = 0;
  /** Deadline for the answer to the newest request, where it can fail to come. */
  question: Deadline<Fetch<Id>> | undefined = undefined;
  /** The missing tokens and blocks that the source has, and the start of their transfer. */
  tokens = 0;
  blocks = 0;
  startedUs: Micros = NOT_YET;
  chain: Chain<Fetch<Id>> | undefined = undefined;
  previous: Fetch<Id> | undefined = undefined;
  next: Fetch<Id> | undefined = undefined;

  constructor({ requestId, epoch, source }: RunOfFetch<Id>) {
    this.requestId = requestId;
    this.epoch = epoch;
    this.source = { ...source };
  }
}

export function viewOfFetch<Id extends AnyId>(fetch: Fetch<Id>): FetchView<Id> {
  const { requestId, epoch, state, source, attempt, missingTokens } = fetch;
  return { requestId, epoch, state, sourceId: source.engineId, attempt, missingTokens };
}
