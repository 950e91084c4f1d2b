import type { ResultName } from '../../http/operation';

/** The description of an answer, and an answer that its schema accepts. */
interface ShownAnswer {
  readonly description: string;
  readonly example: unknown;
}

const MODEL_NAME = 'llama-3.1-8b';
const CREATED = 1_767_225_600;
const POOLED_USAGE = { prompt_tokens: 2, total_tokens: 2 };
const USAGE = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const ITEM = { id: 'msg_1', type: 'message', role: 'user', status: 'completed', content: [] };
const BEGUN = { id: '878f27c2-c5cb-47a6-89d2-5caf6c2a59e3', name: 'D1', state: 'draining' };
const MODEL = {
  id: MODEL_NAME,
  object: 'model',
  created: CREATED,
  owned_by: 'vllm',
  root: MODEL_NAME,
  parent: null,
  max_model_len: 131_072,
};
const RENDERED = {
  request_id: 'cmpl-1-0',
  model: MODEL_NAME,
  token_ids: [1, 2, 3],
  sampling_params: { max_tokens: 8 },
};
const LISTED = { object: 'list', first_id: 'msg_1', last_id: 'msg_1', has_more: false };

/** Answers of generation, and the data that clients store. */
const GENERATED = {
  ChatCompletion: {
    description: 'An answered chat: its choices, and the tokens of prompt and answer.',
    example: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: CREATED,
      model: MODEL_NAME,
      choices: [
        { index: 0, message: { role: 'assistant', content: 'A relay' }, finish_reason: 'length' },
      ],
      usage: USAGE,
    },
  },
  Completion: {
    description: 'Continued prompts: one choice per prompt and `n`, and the tokens of all.',
    example: {
      id: 'cmpl-1',
      object: 'text_completion',
      created: CREATED,
      model: MODEL_NAME,
      choices: [{ index: 0, text: ' a runner', finish_reason: 'length' }],
      usage: USAGE,
    },
  },
  Response: {
    description: 'A response: its status, its output items and its tokens.',
    example: {
      id: 'resp_1',
      object: 'response',
      created_at: CREATED,
      model: MODEL_NAME,
      status: 'completed',
      output: [{ type: 'message' }],
      usage: { input_tokens: 9, output_tokens: 3 },
    },
  },
  CompactedResponse: {
    description: 'Items that replace a conversation in the next request.',
    example: {
      id: 'resp_1',
      object: 'response.compaction',
      created_at: CREATED,
      output: [ITEM, { type: 'compaction', id: 'cmp_1', encrypted_content: 'QSByZWxheQ==' }],
    },
  },
  InputTokens: {
    description: 'The number of prompt tokens of a response.',
    example: { object: 'response.input_tokens', input_tokens: 9 },
  },
  Message: {
    description: "A message in Anthropic's shape: its content blocks and its tokens.",
    example: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: MODEL_NAME,
      content: [{ type: 'text', text: 'A relay' }],
      stop_reason: 'max_tokens',
      usage: { input_tokens: 9, output_tokens: 3 },
    },
  },
  MessageTokens: {
    description: 'The number of prompt tokens of a message.',
    example: { input_tokens: 9 },
  },
  Conversation: {
    description: 'A stored conversation, without its items.',
    example: {
      id: 'conv_1',
      object: 'conversation',
      created_at: CREATED,
      metadata: { topic: 'relay' },
    },
  },
  ConversationItem: { description: 'One item of a conversation.', example: ITEM },
  List: { description: 'One page of stored objects.', example: { ...LISTED, data: [ITEM] } },
  Deleted: {
    description: 'The confirmation that a stored object is deleted.',
    example: { id: 'resp_1', object: 'response', deleted: true },
  },
} satisfies Partial<Record<ResultName, ShownAnswer>>;

/** Answers about texts and tokens. */
const TEXTS = {
  EmbeddingList: {
    description: 'One vector per input, of length 1; as base64 text on request.',
    example: {
      object: 'list',
      model: MODEL_NAME,
      usage: POOLED_USAGE,
      data: [{ index: 0, object: 'embedding', embedding: [0.6, 0.8] }],
    },
  },
  PooledList: {
    description: 'One vector, or one set of class probabilities or one score, per input.',
    example: {
      object: 'list',
      model: MODEL_NAME,
      usage: POOLED_USAGE,
      data: [{ index: 0, object: 'score', score: 0.5 }],
    },
  },
  RankedDocuments: {
    description: 'Documents by falling relevance to the query.',
    example: {
      id: 'score-1',
      model: MODEL_NAME,
      usage: POOLED_USAGE,
      results: [{ index: 0, document: { text: 'A runner.' }, relevance_score: 0.5 }],
    },
  },
  GeneratedTokens: {
    description: 'Generated token ids, without their texts.',
    example: {
      request_id: '1',
      model: MODEL_NAME,
      created: CREATED,
      usage: USAGE,
      choices: [{ index: 0, token_ids: [4, 5, 6], finish_reason: 'length' }],
    },
  },
  SglangGenerated: {
    description: "Generated text in SGLang's shape; a list for several prompts.",
    example: {
      text: ' a runner',
      output_ids: [4, 5],
      meta_info: { id: '1', prompt_tokens: 9, completion_tokens: 2 },
    },
  },
  Rendered: {
    description: 'The tokens of a prompt: a body for `/inference/v1/generate`.',
    example: RENDERED,
  },
  RenderedList: {
    description: 'The tokens of each prompt: bodies for `/inference/v1/generate`.',
    example: [RENDERED],
  },
  Tokens: {
    description: 'The token ids of a text, and their number.',
    example: { count: 3, max_model_len: 131_072, tokens: [1, 2, 3] },
  },
  Text: { description: 'The text of token ids.', example: { prompt: 'A relay' } },
  TokenizerInfo: {
    description: 'The tokenizer that counts texts, and its special tokens.',
    example: { tokenizer_class: 'o200k_base', vocab_size: 200_007, model_max_length: 131_072 },
  },
} satisfies Partial<Record<ResultName, ShownAnswer>>;

/** Answers about the server and the cluster. */
const STATES = {
  ModelList: {
    description: 'The served models and LoRA adapters.',
    example: { object: 'list', data: [MODEL] },
  },
  Model: { description: 'A served model or LoRA adapter.', example: MODEL },
  ModelInfo: {
    description: "The served model in SGLang's shape.",
    example: { model_path: MODEL_NAME, tokenizer_path: MODEL_NAME, is_generation: true },
  },
  Version: { description: 'The version of the server.', example: { version: '0.1.0' } },
  Load: {
    description: 'The number of requests under way in this API process.',
    example: { server_load: 3 },
  },
  Alive: {
    description: 'The identity of the running process.',
    example: { status: 'ok', pid: 4711, api_id: 'api-1' },
  },
  Readiness: {
    description: 'What is missing before requests can be served; empty when ready.',
    example: { status: 'ok', missing: [] },
  },
  Asleep: { description: 'Whether the engines sleep.', example: { is_sleeping: false } },
  Paused: { description: 'Whether the engines are paused.', example: { is_paused: false } },
  Status: { description: 'The state that the order has led to.', example: { status: 'paused' } },
  CacheReset: {
    description: 'Whether the prefix caches are empty now.',
    example: { success: true },
  },
  Aborted: {
    description: 'The number of requests that the order has ended.',
    example: { status: 'aborted', aborted: 2 },
  },
  Batch: {
    description: 'The current batches: sums over all engines, and each engine.',
    example: {
      prefill_queue_depth: 0,
      prefill_batch_size: 1,
      prefill_batch_tokens: 512,
      decode_queue_depth: 0,
      decode_batch_size: 0,
      decode_avg_context_length: 0,
      decode_requests: [],
      engines: [],
    },
  },
  EngineList: {
    description: 'The engines of the cluster, with their state and load.',
    example: {
      object: 'list',
      data: [
        {
          object: 'engine',
          id: '878f27c2-c5cb-47a6-89d2-5caf6c2a59e3',
          name: 'D1',
          role: 'decode',
          state: 'ready',
          requests: 3,
          ranks: [],
        },
      ],
    },
  },
  Joining: {
    description: 'The number of engines that begin to join.',
    example: { role: 'decode', joining: 2 },
  },
  Cancelled: {
    description: 'The number of engines whose join is cancelled.',
    example: { cancelled: 2 },
  },
  Leaving: { description: 'An engine that drains and then leaves.', example: BEGUN },
  Becoming: {
    description: 'An engine that drains and then takes the new role.',
    example: { ...BEGUN, becomes: 'prefill' },
  },
  Settings: {
    description: 'Settings that can change, settings that cannot, and the number of changes.',
    example: {
      object: 'config',
      revision: 1,
      settings: { placement: 'pull' },
      fixed: { topology: '2P2D' },
    },
  },
} satisfies Partial<Record<ResultName, ShownAnswer>>;

/** Every answer with a schema, by the name of the schema. */
export const ANSWERS: Readonly<Record<ResultName, ShownAnswer>> = {
  ...GENERATED,
  ...TEXTS,
  ...STATES,
};
