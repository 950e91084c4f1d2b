import {
  choice,
  integer,
  number,
  optionalInteger,
  optionalNumber,
  optionalText,
  toggle,
} from '../option';

/** Accepted requests, lengths of answers, and the effects of a loss or an overload. */
export const REQUESTS = {
  /** Natural length of an answer. */
  outputLength: choice(
    ['lognormal', 'constant', 'uniform', 'geometric', 'histogram', 'dataset'],
    'lognormal',
    {
      help:
        'Distribution of the natural length of an answer, which ends with `stop`. max_tokens ' +
        'cuts it (`length`); ignore_eos gives exactly max_tokens.',
    },
  ),
  outputLengthMean: number(128, [1, 1_048_576], {
    help: 'Mean natural length of an answer.',
    unit: 'tokens',
  }),
  outputLengthSigma: number(0.6, [0, 10], {
    help: 'With output_length lognormal: standard deviation of the logarithm of the length.',
  }),
  outputLengthMin: integer(1, [1, 1_048_576], {
    help: 'Minimum natural length of an answer; with output_length uniform, the lower bound.',
    unit: 'tokens',
  }),
  outputLengthMax: integer(8192, [1, 1_048_576], {
    help: 'Maximum natural length of an answer; with output_length uniform, the upper bound.',
    unit: 'tokens',
  }),
  endsBy: choice(['length', 'eos'], 'length', {
    help:
      'In replay and plan: how a request ends: at its token limit (length), or by a token that ' +
      'the scheduler does not know beforehand (eos), unless its max_tokens ends it. With async ' +
      'scheduling, eos costs a row of one more step. A live cluster does not use it.',
  }),
  reasoning: toggle(false, {
    help:
      'The model reasons before it answers a chat. reasoning_effort sets the length; the ' +
      'reasoning is separate from the content.',
  }),
  reasoningLengthMean: number(256, [1, 1_048_576], {
    help:
      'Mean length of the reasoning before a chat answer at medium effort, distributed as ' +
      'output_length.',
    unit: 'tokens',
  }),
  toolCallProbability: optionalNumber([0, 1], {
    help:
      'Probability that tool_choice auto calls a tool, drawn from prompt and seed. After the ' +
      'result of a tool the answer is text.',
    unset:
      "a call when the user's message shares a word with the name or description of a tool, or " +
      'when there is only one tool',
  }),
  toolCallExtraCallProbability: number(0.45, [0, 1], {
    help: 'Probability of each further call in one answer, where parallel calls are allowed.',
  }),
  acceptUnknownFields: toggle(false, {
    help:
      'Ignore fields of a request that neither OpenAI nor vLLM, SGLang or TensorRT-LLM ' +
      'documents, in the openai dialect too; the vllm dialect always ignores them, as vLLM does.',
  }),
  strict: toggle(false, {
    help:
      'Check requests as a vLLM server does, even where Baton would serve them: every ' +
      'documented check, with the messages of the dialect (docs/limits.md).',
  }),
  enableAutoToolChoice: toggle(false, {
    help:
      'With strict: behave as a vLLM server that was started with this flag; without it ' +
      'tool_choice auto is refused.',
  }),
  toolCallParser: optionalText({
    help:
      'With strict: behave as a vLLM server that was started with this parser; without one ' +
      'tool_choice auto and required are refused.',
    like: 'hermes',
    unset: 'the server has none',
  }),
  /** 24 x 24 patches of 14 pixels, as LLaVA-1.5 cuts an image of 336 pixels (CLIP ViT-L/14). */
  imageTokens: integer(576, [0, 65_536], {
    help:
      'Prompt tokens of one image part of any size. Images are neither fetched nor decoded. ' +
      'With 0 the model takes no images, and a request with one is refused.',
    unit: 'tokens',
  }),
  audioTokens: optionalInteger([1, 65_536], {
    help: 'Prompt tokens of one audio part.',
    unit: 'tokens',
    unset: 'the model takes no audio',
  }),
  embeddingDimensions: integer(1024, [2, 4096], {
    help: 'Length of an embedding vector; the field `dimensions` of a request can lower it.',
  }),
  goodputTtft: number(2_000, [0.001, 86_400_000], {
    help:
      'Maximum TTFT of a good request. `baton:requests_good_total` counts the requests that ' +
      'also meet goodput_tpot.',
    unit: 'ms',
  }),
  goodputTpot: number(50, [0.001, 86_400_000], {
    help:
      'Maximum mean time per further token of a good request. `baton:requests_good_total` ' +
      'counts the requests that also meet goodput_ttft.',
    unit: 'ms',
  }),
  responsesMaxEntries: integer(1000, [1, 1_000_000], {
    help:
      'Maximum number of stored responses, of conversations, and of chat completions with ' +
      '`store`, per tenant. A new one replaces the least recently used.',
    unit: 'responses',
  }),
  responsesTtl: number(86_400, [1, 31_536_000], {
    help: 'How long a stored response, conversation or chat completion is kept.',
    unit: 's',
  }),
  maxWebsockets: integer(1000, [0, 1_000_000], {
    help:
      'Maximum number of WebSockets at /v1/responses per API process; a further one is refused ' +
      'with 429.',
    unit: 'connections',
  }),
  refusalProbability: number(0, [0, 1], {
    help: 'Probability that a response of /v1/responses is a refusal, drawn from prompt and seed.',
  }),
  reasoningEvents: choice(['openai', 'open_responses'], 'openai', {
    help:
      'Names of the reasoning events in the streams of /v1/responses: reasoning_text as in ' +
      'OpenAI (openai), or reasoning as in Open Responses (open_responses).',
  }),
  unsupportedTools: choice(['skip', 'reject'], 'skip', {
    help:
      'What /v1/responses and /v1/messages do with tools that only their vendor runs, such as ' +
      'web search: skip leaves them out and names them in a header, reject refuses the request.',
  }),
  /** Per stage. */
  maxWaitingRequests: integer(4096, [1, 10_000_000], {
    help:
      'Maximum number of requests that wait for one stage, over all API processes; a further ' +
      'one gets 429 with Retry-After.',
    unit: 'requests',
  }),
  enableDevMode: toggle(false, {
    help:
      "Serve the endpoints of vLLM's development mode: /sleep, /wake_up, /pause, /resume, " +
      '/abort_requests, /reset_prefix_cache, /server_info. They need the admin key, as those ' +
      'of enable_admin do.',
    alsoEnv: ['VLLM_SERVER_DEV_MODE'],
  }),
  /** Answer of GET /version. */
  reportedVersion: optionalText({
    help: 'Version in the answer of GET /version, for clients that expect a certain server.',
    unset: "Baton's own version",
  }),
  /** Simulated seconds. */
  kvLeaseDuration: number(30, [0.1, 86_400], {
    help: 'How long prefill keeps KV blocks that no engine fetches and no heartbeat renews.',
    unit: 's, simulated',
  }),
  bidirectionalKvXfer: toggle(false, {
    help:
      'Keep the blocks of a decode leg that an outside router sent and name them in its ' +
      'answer, so that the prefill leg of the next turn reads them (vLLM: bidirectional_kv_xfer).',
  }),
  /** Simulated seconds. */
  decoderKvBlocksTtl: number(480, [0.1, 86_400], {
    help:
      'With bidirectional_kv_xfer: how long decode keeps the blocks of a leg for its next ' +
      'turn.',
    unit: 's, simulated',
  }),
  kvRecomputeThreshold: integer(64, [0, 10_000_000], {
    help:
      'With bidirectional_kv_xfer: minimum number of tokens that prefill reads back from ' +
      'decode; it computes a smaller number itself.',
    unit: 'tokens',
  }),
  kvLoadFailurePolicy: choice(['fail', 'recompute'], 'fail', {
    help:
      'What happens when KV that a router names in kv_transfer_params cannot be loaded: the ' +
      'request ends with an error (fail), or decode computes the prompt again (recompute).',
  }),
  strictKv: toggle(false, {
    help:
      'Refuse kv_transfer_params that are malformed, unknown, expired or already used with ' +
      '400. vLLM serves such a request without a transfer, or applies kv_load_failure_policy.',
  }),
  /** Wall seconds. */
  kvLegTimeout: number(30, [0, 86_400], {
    help:
      'How long a decode leg waits for its prefill leg, when an outside router sends both at ' +
      'once.',
    unit: 's',
  }),
  workerLossPolicy: choice(['retry', 'fail'], 'retry', {
    help:
      'What happens to the requests of a worker that ends unexpectedly: they run again on ' +
      'another worker (retry), or fail with 500 as on a cluster without retries (fail).',
  }),
  maxRuns: integer(3, [1, 100], {
    help:
      'Maximum number of runs of one stage per request; then the request fails with ' +
      'attempts_exhausted. Runs whose process was lost count apart: the tenth ends the request.',
    unit: 'runs',
  }),
  /** Wall seconds. */
  brokerGrace: number(10, [0, 3600], {
    help: 'How long a running request may make no progress without a broker before it fails.',
    unit: 's',
  }),
  /** Wall seconds. */
  shutdownTimeout: number(30, [0, 3600], {
    help: 'Maximum time that running requests get to finish after SIGTERM or Ctrl-C.',
    unit: 's',
  }),
} as const;
