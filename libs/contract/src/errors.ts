/**
 * The catalogue of every failure that a user can see: a stable code, its HTTP status, vLLM's
 * `type`, OpenAI's `type` and string code (null where OpenAI has none), and when a client may try
 * again. The code is part of the public contract; never rename one.
 */
export interface CatalogueEntry {
  readonly status: number;
  readonly vllmType: string;
  readonly openaiType: string;
  readonly openaiCode: string | null;
  readonly message: string;
  /** Seconds for `Retry-After` of an error that has no own time. Undefined: no such header. */
  readonly retryAfterSeconds?: number;
}

/** Most obstacles of an overloaded or restarting cluster are gone after this time. */
const RETRY_SECONDS = 1;
/** Most late engines have returned after this time. */
const NO_ENGINE_RETRY_SECONDS = 2;

const entry = (
  status: number,
  vllmType: string,
  openaiType: string,
  openaiCode: string | null,
  message: string,
): CatalogueEntry => ({ status, vllmType, openaiType, openaiCode, message });

const invalid = (message: string, openaiCode: string | null = null): CatalogueEntry =>
  entry(400, 'BadRequestError', 'invalid_request_error', openaiCode, message);
const internal = (code: string, message: string): CatalogueEntry =>
  entry(500, 'InternalServerError', 'server_error', code, message);
const unavailable = (
  code: string,
  message: string,
  retryAfterSeconds = RETRY_SECONDS,
): CatalogueEntry => ({
  ...entry(503, 'ServiceUnavailableError', 'server_error', code, message),
  retryAfterSeconds,
});
/** Without a default time: waiting does not help a request that is larger than its limit. */
const overRate = (openaiType: 'requests' | 'tokens', message: string): CatalogueEntry =>
  entry(429, 'Too Many Requests', openaiType, 'rate_limit_exceeded', message);
const overloaded = (message: string): CatalogueEntry => ({
  ...overRate('requests', message),
  retryAfterSeconds: RETRY_SECONDS,
});

export const ERRORS = {
  /** The body does not have the shape that the endpoint requires (pydantic's failures in vLLM). */
  invalid_type: entry(
    400,
    'Bad Request',
    'invalid_request_error',
    null,
    'The request is malformed.',
  ),
  invalid_json: entry(
    400,
    'Bad Request',
    'invalid_request_error',
    null,
    'The request body is not valid JSON.',
  ),
  unsupported_content_type: entry(
    400,
    'Bad Request',
    'invalid_request_error',
    null,
    "Unsupported Media Type: Only 'application/json' is allowed",
  ),
  unsupported_content_encoding: entry(
    415,
    'Unsupported Media Type',
    'invalid_request_error',
    'unsupported_content_encoding',
    'The Content-Encoding of the request is not supported. Send gzip, br or no encoding.',
  ),
  /** A value is outside its range (vLLM's own checks). */
  invalid_value: invalid('A value is out of range.', 'invalid_value'),
  context_length_exceeded: invalid('The prompt is too long.', 'context_length_exceeded'),
  /** Prompt and output could never fit the KV cache of one engine. */
  kv_capacity_exceeded: invalid(
    'The request can never fit the KV cache of an engine.',
    'context_length_exceeded',
  ),
  /** `strict_kv`: kv_transfer_params that name no blocks held for this prompt. */
  kv_reference_refused: invalid(
    'kv_transfer_params name no KV blocks that are held for this prompt: they are unknown, ' +
      'expired or already read.',
    'kv_reference_refused',
  ),
  /** More time or memory than one request may take, before any engine sees it. */
  request_too_complex: invalid(
    'The request is too complex: it exceeds the time or memory that one request may use. ' +
      'Simplify its schema, pattern, grammar or prompt, or ask for a shorter answer.',
    'request_too_complex',
  ),
  missing_api_key: entry(
    401,
    'Unauthorized',
    'invalid_request_error',
    null,
    'The request has no API key. Send one as `Authorization: Bearer KEY`.',
  ),
  invalid_api_key: entry(
    401,
    'Unauthorized',
    'invalid_request_error',
    'invalid_api_key',
    'The API key is not valid for this server.',
  ),
  /** A page of a foreign host name calls an endpoint of operators. */
  host_refused: entry(
    403,
    'Forbidden',
    'invalid_request_error',
    'host_refused',
    'This path needs the admin key, or a request from the same machine to localhost.',
  ),
  origin_refused: entry(
    403,
    'Forbidden',
    'invalid_request_error',
    'origin_refused',
    'A web page of another origin needs the admin key for this path.',
  ),
  model_not_found: entry(
    404,
    'NotFoundError',
    'invalid_request_error',
    'model_not_found',
    'The model does not exist.',
  ),
  /** A served model is not the client's to delete. */
  model_not_deletable: entry(
    403,
    'Forbidden',
    'invalid_request_error',
    null,
    'You have insufficient permissions for this operation.',
  ),
  /** A LoRA adapter that cannot be loaded or unloaded as requested. */
  invalid_adapter: entry(
    400,
    'InvalidUserInput',
    'invalid_request_error',
    null,
    'The LoRA adapter cannot be loaded or unloaded as requested.',
  ),
  adapter_not_found: entry(
    404,
    'NotFoundError',
    'invalid_request_error',
    'adapter_not_found',
    'The LoRA adapter does not exist.',
  ),
  /** Recorded answers are played, and the recording does not have this request. */
  not_recorded: entry(
    404,
    'NotFoundError',
    'invalid_request_error',
    'not_recorded',
    'The recording has no answer to this request.',
  ),
  /** The upstream server of a stage refused; its own status and message are shown. */
  upstream_error: internal('upstream_error', 'The upstream server failed.'),
  upstream_lost: entry(
    502,
    'InternalServerError',
    'server_error',
    'upstream_lost',
    'The connection to the upstream server was lost.',
  ),
  upstream_timeout: entry(
    504,
    'InternalServerError',
    'server_error',
    'upstream_timeout',
    'The upstream server did not answer in time.',
  ),
  upstream_garbled: entry(
    502,
    'InternalServerError',
    'server_error',
    'upstream_garbled',
    'The upstream server sent an invalid answer.',
  ),
  /** Executing stages serve only chats, completions and responses. */
  not_executed: entry(
    501,
    'NotImplementedError',
    'invalid_request_error',
    'not_executed',
    'This cluster runs on upstream servers, which serve only chat completions, completions and responses.',
  ),
  engine_not_found: entry(
    404,
    'NotFoundError',
    'invalid_request_error',
    'engine_not_found',
    'The engine does not exist.',
  ),
  engine_needed: entry(
    409,
    'Conflict',
    'invalid_request_error',
    'engine_needed',
    'The engine is the last one of its role. Add another one first.',
  ),
  engine_leaving: entry(
    409,
    'Conflict',
    'invalid_request_error',
    'engine_leaving',
    'The engine is already leaving.',
  ),
  /** A stored response that does not exist, or no longer does. */
  response_not_found: entry(
    404,
    'NotFoundError',
    'invalid_request_error',
    null,
    'The response does not exist.',
  ),
  /** A stored chat completion that does not exist, or no longer does. */
  chat_not_found: entry(
    404,
    'NotFoundError',
    'invalid_request_error',
    null,
    'The chat completion does not exist.',
  ),
  previous_response_not_found: entry(
    404,
    'NotFoundError',
    'invalid_request_error',
    'previous_response_not_found',
    'The previous response does not exist.',
  ),
  conversation_not_found: entry(
    404,
    'NotFoundError',
    'invalid_request_error',
    null,
    'The conversation does not exist.',
  ),
  /** An item of a conversation. */
  item_not_found: entry(
    404,
    'NotFoundError',
    'invalid_request_error',
    null,
    'The item does not exist.',
  ),
  /** The request of a timeline does not exist. */
  request_not_found: entry(
    404,
    'NotFoundError',
    'invalid_request_error',
    'request_not_found',
    'No timeline of this request is kept.',
  ),
  /** A WebSocket may stay open for an hour. */
  websocket_connection_limit_reached: invalid(
    'The connection has been open for 60 minutes. Open a new one to continue.',
    'websocket_connection_limit_reached',
  ),
  not_found: entry(404, 'Not Found', 'invalid_request_error', null, 'Not Found'),
  method_not_allowed: entry(
    405,
    'Method Not Allowed',
    'invalid_request_error',
    null,
    'Method Not Allowed',
  ),
  request_timeout: entry(
    408,
    'Request Timeout',
    'invalid_request_error',
    'request_timeout',
    'The request was not received in time.',
  ),
  body_too_large: entry(
    413,
    'Request Entity Too Large',
    'invalid_request_error',
    null,
    'The request body is too large.',
  ),
  uri_too_long: entry(414, 'URI Too Long', 'invalid_request_error', null, 'The URL is too long.'),
  headers_too_large: entry(
    431,
    'Request Header Fields Too Large',
    'invalid_request_error',
    null,
    'The request headers are too large.',
  ),
  /** `limit_requests_per_minute`. */
  request_rate_exceeded: overRate('requests', 'Rate limit reached on requests per minute.'),
  /** `limit_tokens_per_minute`. */
  token_rate_exceeded: overRate('tokens', 'Rate limit reached on tokens per minute.'),
  queue_full: overloaded(
    'The server is overloaded: its queue of waiting requests is full. Please retry later.',
  ),
  /** `max_websockets`. */
  too_many_websockets: overloaded(
    'The server is overloaded: too many WebSocket connections are open. Please retry later.',
  ),
  /** `admission_slo_ttft`: the first token would come too late. */
  slo_unattainable: overloaded(
    'The server is overloaded: the first token would come after its TTFT limit. Please retry ' +
      'later.',
  ),
  /** `flow_control_queue` or `flow_control_total_queue`. */
  flow_queue_full: overloaded(
    'The server is overloaded: too many requests of this class and tenant are waiting. Please ' +
      'retry later.',
  ),
  /** A request of a higher class took its place in the queue. */
  flow_shed: overloaded(
    'The server is overloaded and serves requests of higher classes first. Please retry later.',
  ),
  /** `flow_control_timeout`. */
  flow_timeout: unavailable(
    'flow_timeout',
    'The server is overloaded: the request has waited too long for its turn. Please retry later.',
  ),
  /** The user's own `admission` policy has refused it. */
  admission_refused: overloaded(
    'The admission policy of this server has refused the request. Please retry later.',
  ),
  /** The limit of open live pages is reached. */
  too_many_viewers: unavailable(
    'too_many_viewers',
    'Too many live pages are open. Close one and reload.',
  ),
  engine_error: internal('engine_error', 'Internal server error'),
  /** An injected fault; status, types and message are those of the fault (`faults/`). */
  injected_fault: internal('injected_fault', 'Internal server error'),
  /** The runs that a request may take are used up. */
  attempts_exhausted: internal(
    'attempts_exhausted',
    'The request failed because its workers were lost too often.',
  ),
  /** `worker_loss_policy: fail`. */
  worker_lost: internal('worker_lost', 'Internal server error'),
  /** `kv_load_failure_policy: fail`. */
  kv_load_failed: internal('kv_load_failed', 'Internal server error'),
  broker_unavailable: unavailable(
    'broker_unavailable',
    'The message broker is not reachable. Please retry later.',
  ),
  broker_out_of_memory: unavailable(
    'broker_out_of_memory',
    'The message broker is out of memory. Please retry later.',
  ),
  /** Requests that take long to read wait for a thread, and too many do. */
  threads_busy: unavailable(
    'threads_busy',
    'Too many large requests are waiting to be read. Please retry later.',
  ),
  no_engine: unavailable(
    'no_engine',
    'No engine is ready for a stage that the request needs. Please retry later.',
    NO_ENGINE_RETRY_SECONDS,
  ),
  /** The engine did not follow an order to leave in time. */
  engine_silent: unavailable('engine_silent', 'The engine does not answer. Please retry later.'),
  /** The roles were started by hand, so no supervisor can start another engine. */
  no_supervisor: entry(
    501,
    'NotImplementedError',
    'server_error',
    'no_supervisor',
    'This cluster has no supervisor to start engines. Start one with `baton up --role`.',
  ),
  /** The order was sent; its outcome is unknown. */
  supervisor_silent: unavailable(
    'supervisor_silent',
    'The supervisor has not answered yet: engines may still join, as GET /admin/engines shows.',
  ),
  shutting_down: unavailable('shutting_down', 'The server is shutting down.'),
  /** The client read too slowly or left; seen in logs and metrics only. */
  slow_reader: entry(499, 'Client Closed Request', 'invalid_request_error', null, 'Slow reader.'),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERRORS;
