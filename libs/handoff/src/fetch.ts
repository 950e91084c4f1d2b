import type { Micros } from '@baton/kernel';
import type { Link } from './chain';
import type { Deadline } from './deadline-list';
import type { AnyId } from './id-map';
import type { FetchView, SourceName } from './target-protocol';

/** One run's fetch of one prompt's KV, from acceptance to its end; it stands in the chain of its source's fetches. */
export interface Fetch<Id extends AnyId> extends Link<Fetch<Id>> {
  readonly requestId: Id;
  readonly epoch: number;
  readonly source: SourceName<Id>;
  state: FetchView['state'];
  /** The source has heard of it by no means yet. */
  isUnannounced: boolean;
  missingTokens: number;
  /** The first and the newest number under which the read was asked for; 0 before. */
  firstAttempt: number;
  attempt: number;
  tries: number;
  /** Until when the newest question waits for its answer. */
  question: Deadline<Fetch<Id>> | undefined;
  /** What the source was found to have of what is missing, since when it is on its way. */
  tokens: number;
  bytes: number;
  startedUs: Micros;
}

export interface RunOfFetch<Id extends AnyId> {
  readonly requestId: Id;
  readonly epoch: number;
  readonly source: SourceName<Id>;
}

export function newFetch<Id extends AnyId>(run: RunOfFetch<Id>): Fetch<Id> {
  const { engineId, requestId, epoch, generation } = run.source;
  return {
    requestId: run.requestId,
    epoch: run.epoch,
    source: { engineId, requestId, epoch, generation },
    state: 'accepted',
    isUnannounced: false,
    missingTokens: 0,
    firstAttempt: 0,
    attempt: 0,
    tries: 0,
    question: undefined,
    tokens: 0,
    bytes: 0,
    startedUs: 0,
    chain: undefined,
    previous: undefined,
    next: undefined,
  };
}

export function viewOfFetch<Id extends AnyId>(fetch: Fetch<Id>): FetchView<Id> {
  const { requestId, epoch, state, source, attempt, missingTokens } = fetch;
  return { requestId, epoch, state, sourceId: source.engineId, attempt, missingTokens };
}
