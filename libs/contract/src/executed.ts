/**
 * What an executing stage needs of a request: lies in the broker beside the job, under its request
 * id.
 */
export interface ExecutedRequest {
  /** As the client asked, without the query: `/v1/chat/completions` or `/v1/completions`. */
  readonly path: string;
  /** The client's JSON object, as it was written. */
  readonly text: string;
  /** `X-Request-Id` of every leg. */
  readonly requestId: string;
}

/** Why a leg on a server has not done its part: it refused the request, or was lost. */
export type LegFailure =
  UpstreamFailure | { readonly code: 'upstream_lost' | 'upstream_timeout' | 'upstream_garbled' };

/** How an upstream server failed a request, in the tail of the entry that ends it. */
export interface UpstreamFailure {
  readonly code: 'upstream_error';
  readonly status: number;
  readonly message: string;
  readonly param: string | null;
  /** Its own words for what kind of error it is. */
  readonly type: string | null;
  readonly upstreamCode: string | number | null;
}
