import type { BodyName } from '../../http/operation';

const messages = [{ role: 'user', content: 'Why does a relay need a baton?' }];
const anthropic = { messages, max_tokens: 64 };

/** Example bodies that the server accepts unchanged, for schemas whose fields do not yield one. */
export const EXAMPLES: Partial<Record<BodyName, object>> = {
  ChatCompletionRequest: { messages, max_tokens: 64 },
  ChatCompletionBatchRequest: { messages: [messages, messages], max_tokens: 64 },
  CompletionRequest: { prompt: 'A relay needs a baton because', max_tokens: 64 },
  ResponseRequest: { input: 'Why does a relay need a baton?', max_output_tokens: 64 },
  ConversationRequest: {
    items: [{ type: 'message', role: 'user', content: 'Hello' }],
    metadata: { topic: 'relay' },
  },
  MessagesRequest: anthropic,
  CountTokensRequest: { messages },
  EmbeddingRequest: { input: ['baton', 'relay'] },
  PoolingRequest: { input: 'baton' },
  RerankRequest: { query: 'Who carries the baton?', documents: ['A runner.', 'The crowd.'] },
  ScoreRequest: { text_1: 'Who carries the baton?', text_2: ['A runner.', 'The crowd.'] },
  TokenizeRequest: { prompt: 'Why does a relay need a baton?' },
  GenerateRequest: { token_ids: [1, 2, 3], sampling_params: { max_tokens: 8 } },
  SglangGenerateRequest: { text: 'A relay needs a baton because', sampling_params: {} },
  DetokenizeRequest: { tokens: [1, 2, 3] },
  DerenderChatRequest: {
    generate_response: { choices: [{ index: 0, token_ids: [1, 2, 3], finish_reason: 'length' }] },
    prompt_tokens: 9,
  },
  DerenderCompletionRequest: {
    generate_responses: [{ choices: [{ index: 0, token_ids: [1, 2, 3], finish_reason: 'stop' }] }],
    prompt_tokens: 9,
  },
};
