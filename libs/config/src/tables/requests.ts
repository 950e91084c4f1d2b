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
        'Distribution of the natural length of an answer (it ends with `stop`); max_tokens ' +
        'cuts it (`length`), ignore_eos gives exactly max_tokens.',
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
    help: 'Shortest natural length of an answer; with output_length uniform the lower bound.',
    unit: 'tokens',
  }),
  outputLengthMax: integer(8192, [1, 1_048_576], {
    help: 'Longest natural length of an answer; with output_length uniform the upper bound.',
    unit: 'tokens',
  }),
  reasoning: toggle(false, {
    help:
      'The model reasons before it answers a chat, with a length by reasoning_effort; the ' +
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
      'Chance that tool_choice auto calls a tool, drawn from prompt and seed. After the ' +
      'result of a tool the answer is text.',
    unset:
      "a call for a user's message that shares a word with the name or description of a tool, " +
      'or when there is only one tool',
  }),
  toolCallExtraCallProbability: number(0.45, [0, 1], {
    help: 'Chance of each further call in one answer, where parallel calls are allowed.',
  }),
  acceptUnknownFields: toggle(false, {
    help:
      'Ignore fields of a request that neither OpenAI nor vLLM, SGLang or TensorRT-LLM ' +
      'documents, in the openai dialect too; the vllm dialect always ignores them, as vLLM does.',
  }),
  strict: toggle(false, {
    help:
      'Check requests as a vLLM server does, even where Baton would serve them: every ' +
      'documented check, in the words of the dialect (docs/limits.md).',
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
      'Prompt tokens of one image part, whatever its size: nothing is fetched or decoded. 0: the ' +
      'model takes no images, and refuses requests with one.',
    unit: 'tokens',
  }),
  audioTokens: optionalInteger([1, 65_536], {
    help: 'Prompt tokens of one audio part.',
    unit: 'tokens',
    unset: 'the model takes no audio',
  }),
  embeddingDimensions: integer(1024, [2, 4096], {
    help: 'Numbers of an embedding; the field `dimensions` of a request can lower it.',
  }),
  goodputTtft: number(2_000, [0.001, 86_400_000], {
    help:
      'A request counts as good for `baton:requests_good_total` when its first token came within ' +
      'this, and its further tokens within goodput_tpot.',
    unit: 'ms',
  }),
  goodputTpot: number(50, [0.001, 86_400_000], {
    help:
      'A request counts as good for `baton:requests_good_total` when its mean time per further ' +
      'token is within this, and its first token came within goodput_ttft.',
    unit: 'ms',
  }),
  responsesMaxEntries: integer(1000, [1, 1_000_000], {
    help:
      'Limit of stored responses, of conversations, and of chat completions with `store`; ' +
      'the least recently used make room for new ones.',
    unit: 'responses',
  }),
  responsesTtl: number(86_400, [1, 31_536_000], {
    help: 'How long a stored response, conversation or chat completion is kept.',
    unit: 's',
  }),
  maxWebsockets: integer(1000, [0, 1_000_000], {
    help: 'WebSockets at /v1/responses that one API process holds; more are refused with 429.',
    unit: 'connections',
  }),
  refusalProbability: number(0, [0, 1], {
    help: 'Chance that a response of /v1/responses is a refusal, drawn from prompt and seed.',
  }),
  reasoningEvents: choice(['openai', 'open_responses'], 'openai', {
    help:
      'Names of the reasoning events in the streams of /v1/responses: reasoning_text as OpenAI ' +
      'has them, or reasoning as Open Responses does.',
  }),
  unsupportedTools: choice(['skip', 'reject'], 'skip', {
    help:
      'What /v1/responses does with tools that only OpenAI runs (web search and the like): ' +
      'leave them out and name them in a header, or refuse the request.',
  }),
  /** Per stage. */
  maxWaitingRequests: integer(4096, [1, 10_000_000], {
    help:
      'Requests that may wait for one stage over all API processes; beyond it 429 with ' +
      'Retry-After.',
    unit: 'requests',
  }),
  enableDevMode: toggle(false, {
    help:
      "Serve the endpoints of vLLM's development mode: /sleep, /wake_up, /pause, /resume, " +
      '/abort_requests, /reset_prefix_cache, /server_info. They take the admin key, as ' +
      'enable_admin does.',
    alsoEnv: ['VLLM_SERVER_DEV_MODE'],
  }),
  /** Answer of GET /version. */
  reportedVersion: optionalText({
    help: 'Version that GET /version answers, for clients that expect a certain server.',
    unset: "Baton's own version",
  }),
  /** Simulated seconds. */
  kvLeaseDuration: number(30, [0.1, 86_400], {
    help: 'How long prefill holds KV blocks that no engine fetches and no heartbeat renews.',
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
      'With bidirectional_kv_xfer: fewest tokens that prefill reads back from decode; it ' +
      'computes a smaller number itself.',
    unit: 'tokens',
  }),
  kvLoadFailurePolicy: choice(['fail', 'recompute'], 'fail', {
    help:
      'What happens when KV that kv_transfer_params from outside name cannot be loaded: the ' +
      'request ends with an error (fail), or decode computes the prompt again (recompute).',
  }),
  strictKv: toggle(false, {
    help:
      'Refuse kv_transfer_params that are malformed, unknown, expired or used before with ' +
      '400, where vLLM serves the request without a transfer or goes by kv_load_failure_policy.',
  }),
  /** Wall seconds. */
  kvLegTimeout: number(30, [0, 86_400], {
    help:
      'How long a decode leg that an outside router sends at once with its prefill leg waits for ' +
      'the prefill leg to arrive.',
    unit: 's',
  }),
  workerLossPolicy: choice(['retry', 'fail'], 'retry', {
    help:
      'What happens to requests of a worker that ends unexpectedly: they run again on another ' +
      '(retry), or fail with 500 as on a cluster without retries (fail).',
  }),
  maxRuns: integer(3, [1, 100], {
    help: 'Runs of one stage that a request may take before it fails with attempts_exhausted.',
    unit: 'runs',
  }),
  /** Wall seconds. */
  brokerGrace: number(10, [0, 3600], {
    help: 'Time without a broker and without progress after which a running request fails.',
    unit: 's',
  }),
  /** Wall seconds. */
  shutdownTimeout: number(30, [0, 3600], {
    help: 'Longest time for which running requests continue after SIGTERM or Ctrl-C.',
    unit: 's',
  }),
} as const;
