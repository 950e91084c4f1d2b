import {
  duration,
  integer,
  list,
  number,
  optionalInteger,
  optionalTable,
  optionalText,
  toggle,
} from '../option';

/** Columns of `api_key_limits`, named as the two options that hold for every key. */
export const LIMIT_COLUMNS = ['limit_requests_per_minute', 'limit_tokens_per_minute'] as const;

/** Access: keys, limits, and kinds of connection. */
export const ACCESS = {
  apiKey: list([], {
    help:
      'Key that a request must carry as Authorization: Bearer KEY at paths that begin with /v1, ' +
      '/v2, /inference, /generate or /cohere; repeat the flag for several. Each key is a ' +
      'separate tenant unless api_keys_file names it. Flags are visible in the list of ' +
      'processes; BATON_API_KEY and api_key_file are not.',
    alsoEnv: ['VLLM_API_KEY'],
    isSecret: true,
  }),
  apiKeyFile: optionalText({
    help: 'File with one key, in place of api_key; for secrets that are mounted as files.',
    unset: 'keys come only from api_key and api_keys_file',
  }),
  apiKeysFile: optionalText({
    help:
      'File with keys by name, YAML or JSON: one `name: key` per line, or a list of keys per ' +
      'name. A name is a tenant: stored responses, conversations, timelines, loaded LoRA ' +
      'adapters and limits belong to it, and no other tenant can reach them.',
    unset: 'each key is a tenant of its own',
  }),
  adminApiKey: optionalText({
    help:
      'Key for the endpoints of enable_admin and enable_dev_mode, sent as Authorization: ' +
      'Bearer KEY. Keys of api_key do not open them. Flags are visible in the list of ' +
      'processes; BATON_ADMIN_API_KEY and admin_api_key_file are not.',
    isSecret: true,
    unset:
      'one is generated and printed at the start; requests from this machine need none unless ' +
      'api keys are set',
  }),
  adminApiKeyFile: optionalText({
    help: 'File that contains only the admin key, in place of admin_api_key.',
    unset: 'the key of admin_api_key',
  }),
  limitRequestsPerMinute: optionalInteger([1, 1_000_000_000], {
    help:
      'Maximum requests per minute of one tenant, over all API processes; a further one gets ' +
      '429 with Retry-After.',
    unit: 'requests',
    unset: 'no limit',
  }),
  limitTokensPerMinute: optionalInteger([1, 1_000_000_000_000], {
    help:
      'Maximum prompt and output tokens per minute of one tenant, over all API processes; a ' +
      'request beyond it gets 429 with Retry-After.',
    unit: 'tokens',
    unset: 'no limit',
  }),
  apiKeyLimits: optionalTable(LIMIT_COLUMNS, {
    help:
      'Limits of single tenants, in place of the limits for all: a table of names of ' +
      'api_keys_file or of keys, each with limit_requests_per_minute and ' +
      'limit_tokens_per_minute. A key in this table need not be in api_key.',
    isSecret: true,
    unset: 'every tenant has the same limits',
  }),
  sslKeyfile: optionalText({
    help:
      'File with the private key (PEM) of the API. With ssl_certfile it switches the API to ' +
      'HTTPS.',
    unset: 'plain HTTP',
  }),
  sslCertfile: optionalText({
    help: 'File with the certificate chain (PEM) of the API.',
    unset: 'plain HTTP',
  }),
  sslCaCerts: optionalText({
    help: 'File with the authorities (PEM) whose client certificates are accepted.',
    unset: 'the well-known ones',
  }),
  sslCertReqs: integer(0, [0, 2], {
    help:
      "Client certificates, with the numbers of Python's ssl module: 0 requests none, 1 checks " +
      'a certificate if the client sends one, 2 requires one.',
  }),
  enableSslRefresh: toggle(false, {
    help:
      'Check every second whether the TLS files (ssl_keyfile, ssl_certfile, ssl_ca_certs) have ' +
      'changed, and use the new ones for new connections.',
  }),
  allowedOrigins: list(['*'], {
    help: 'Origins of web pages that may read answers (CORS); * for any.',
  }),
  allowedMethods: list(['*'], {
    help: 'HTTP methods that web pages of allowed_origins may use (CORS); * for any.',
  }),
  allowedHeaders: list(['*'], {
    help: 'Request headers that web pages of allowed_origins may send (CORS); * for any.',
  }),
  allowCredentials: toggle(false, {
    help: 'Let web pages of allowed_origins send cookies and other credentials (CORS).',
  }),
  enableRequestIdHeaders: toggle(false, {
    help:
      'With dialect vllm: send the header X-Request-Id, with the id of the request or a new ' +
      'one. With dialect openai every answer has it.',
  }),
  maxRequestBodyMb: number(16, [0.001, 1024], {
    help: 'Maximum size of a request body, counted while it is read; a larger one gets 413.',
    unit: 'MiB',
  }),
  h11MaxIncompleteEventSize: integer(16_384, [1_024, 67_108_864], {
    help: 'Maximum size of the request line and headers together; larger ones get 431.',
    unit: 'bytes',
  }),
  h11MaxHeaderCount: integer(256, [1, 10_000], {
    help: 'Maximum number of headers of one request; more get 431.',
    unit: 'headers',
  }),
  maxConnections: integer(16_384, [1, 1_000_000], {
    help:
      'Maximum number of open connections of an API process at one port; further ones are ' +
      'closed at once.',
    unit: 'connections',
  }),
  httpTimeoutRequest: duration(30, [0.05, 86_400], {
    help: 'Maximum time for a client to send one request, headers and body; then it gets 408.',
    unit: 's',
  }),
  httpTimeoutHeaders: duration(30, [0.05, 86_400], {
    help: 'Maximum time for a client to send the headers alone; then it gets 408.',
    unit: 's',
  }),
  httpTimeoutKeepAlive: duration(75, [0.05, 86_400], {
    help:
      'How long a connection without a request stays open. The default is longer than the ' +
      'idle time of common load balancers (60 s), so that they close first.',
    unit: 's',
    alsoEnv: ['VLLM_HTTP_TIMEOUT_KEEP_ALIVE'],
  }),
} as const;
