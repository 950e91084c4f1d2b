import type { Micros } from '@baton/kernel';
import type { Deadline } from './deadline-list';
import type { FetchView, SourceName } from './target-protocol';

/** One run's fetch of one prompt's KV, from acceptance to its end. */
export interface Fetch {
  readonly requestId: string;
  readonly epoch: number;
  readonly source: SourceName;
  state: FetchView['state'];
  missingTokens: number;
  /** The first and the newest number under which the read was asked for; 0 before. */
  firstAttempt: number;
  attempt: number;
  tries: number;
  /** Until when the newest question waits for its answer. */
  question: Deadline<Fetch> | undefined;
  /** What the source was found to have of what is missing, since when it is on its way. */
  tokens: number;
  bytes: number;
  startedUs: Micros;
}

export function newFetch(run: Pick<Fetch, 'requestId' | 'epoch' | 'source'>): Fetch {
  const { requestId, epoch, source } = run;
  return {
    requestId,
    epoch,
    source,
    state: 'accepted',
    missingTokens: 0,
    firstAttempt: 0,
    attempt: 0,
    tries: 0,
    question: undefined,
    tokens: 0,
    bytes: 0,
    startedUs: 0,
  };
}

export function viewOfFetch(fetch: Fetch): FetchView {
  const { requestId, epoch, state, source, attempt, missingTokens } = fetch;
  return { requestId, epoch, state, sourceId: source.engineId, attempt, missingTokens };
}
