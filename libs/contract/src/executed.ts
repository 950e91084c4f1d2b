/**
 * The parts of a request that an executing stage needs, stored in the broker beside the job under
 * its request id.
 */
export interface ExecutedRequest {
  /**
   * The path of the client's request, without the query: `/v1/chat/completions` or
   * `/v1/completions`.
   */
  readonly path: string;
  /** The client's JSON object as received. */
  readonly text: string;
  /** `X-Request-Id` of every leg. */
  readonly requestId: string;
}

/**
 * The reason why a leg on a server has not done its part: the server refused the request, or was
 * lost.
 */
export type LegFailure =
  UpstreamFailure | { readonly code: 'upstream_lost' | 'upstream_timeout' | 'upstream_garbled' };

/** The failure of a request at an upstream server, in the tail of the entry that ends it. */
export interface UpstreamFailure {
  readonly code: 'upstream_error';
  readonly status: number;
  readonly message: string;
  readonly param: string | null;
  /** The server's own name for the kind of error. */
  readonly type: string | null;
  readonly upstreamCode: string | number | null;
}
