import type { ServerResponse } from 'node:http';
import type { Endpoint } from '@baton/openai';

/** One HTTP request for generation, as its controller hands it on. */
export interface Call {
  readonly endpoint: Endpoint;
  readonly body: unknown;
  readonly response: ServerResponse;
  /** When its headers arrived, µs since the Unix epoch. */
  readonly arrivalUs: number;
  /** What `x-request-id` answers. */
  readonly requestId: string;
  /** The client's own `X-Request-Id`. */
  readonly clientRequestId: string | undefined;
  /** The engine whose port it came in at; undefined at the cluster's own. */
  readonly engineId: string | undefined;
  /** Takes the response away from the framework: from now on the exchange answers. */
  readonly takeOver: () => void;
}
