import type { Operation, Operations, QueryParameter } from './operation';

const STREAMED = { answers: ['json', 'events'] } as const;

const text = (summary: string, more: Partial<Operation>): Operation => ({
  tag: 'Text',
  summary,
  ...more,
});
const pooled = (summary: string, body: Operation['body']): Operation => ({
  tag: 'Embeddings and scores',
  summary,
  ...(body === undefined ? {} : { body }),
});
const response = (summary: string, more: Partial<Operation> = {}): Operation => ({
  tag: 'Responses',
  summary,
  ...more,
});
const conversation = (summary: string, more: Partial<Operation> = {}): Operation => ({
  tag: 'Conversations',
  summary,
  ...more,
});

const PAGING: readonly QueryParameter[] = [
  { name: 'limit', type: 'integer', meaning: 'Items of a page, 1 to 100.' },
  { name: 'order', type: 'string', meaning: 'asc or desc.' },
  { name: 'after', type: 'string', meaning: 'The item before the first one of the page.' },
];
const REPLAY: readonly QueryParameter[] = [
  { name: 'stream', type: 'boolean', meaning: 'Send the events of the stream again.' },
  { name: 'starting_after', type: 'integer', meaning: 'Number of the last event that is known.' },
];

/** What clients send prompts to. */
export const INFERENCE: Operations = {
  'POST /v1/chat/completions': text('Answer a conversation', {
    body: 'ChatCompletionRequest',
    ...STREAMED,
  }),
  'POST /v1/chat/completions/batch': text('Answer several conversations at once', {
    body: 'ChatCompletionBatchRequest',
  }),
  'POST /v1/chat/completions/render': text('Tokens of a conversation, without an answer', {
    body: 'ChatCompletionRequest',
  }),
  'POST /v1/chat/completions/derender': text('A chat answer made of tokens', {
    body: 'DerenderChatRequest',
  }),
  'POST /v1/completions': text('Continue prompts', { body: 'CompletionRequest', ...STREAMED }),
  'POST /v1/completions/render': text('Tokens of prompts, without an answer', {
    body: 'CompletionRequest',
  }),
  'POST /v1/completions/derender': text('A completion made of tokens', {
    body: 'DerenderCompletionRequest',
  }),
  'POST /generate': text("Continue texts or token ids, in SGLang's way", {
    body: 'SglangGenerateRequest',
    ...STREAMED,
  }),
  'POST /inference/v1/generate': text('Continue token ids with token ids', {
    body: 'GenerateRequest',
    ...STREAMED,
  }),
  'POST /v1/messages': {
    tag: 'Messages',
    summary: "Answer a conversation in Anthropic's shape",
    body: 'MessagesRequest',
    ...STREAMED,
  },
  'POST /v1/messages/count_tokens': {
    tag: 'Messages',
    summary: 'Count the tokens of such a conversation',
    body: 'CountTokensRequest',
  },
  'POST /v1/responses': response('Make a response', { body: 'ResponseRequest', ...STREAMED }),
  'GET /v1/responses': response('Make responses over a WebSocket'),
  'POST /v1/responses/input_tokens': response('Count the tokens of an input', {
    body: 'ResponseRequest',
  }),
  'POST /v1/responses/compact': response('Shorten what a conversation has come to', {
    body: 'ResponseRequest',
  }),
  'GET /v1/responses/:id': response('Read a stored response', { query: REPLAY, ...STREAMED }),
  'DELETE /v1/responses/:id': response('Delete a stored response'),
  'GET /v1/responses/:id/input_items': response('List what a response answered', {
    query: PAGING,
  }),
  'POST /v1/responses/:id/cancel': response('End a response that runs in the background'),
  'POST /v1/conversations': conversation('Begin a conversation', { body: 'ConversationRequest' }),
  'GET /v1/conversations/:id': conversation('Read a conversation'),
  'POST /v1/conversations/:id': conversation('Change the metadata of a conversation', {
    body: 'ConversationRequest',
  }),
  'DELETE /v1/conversations/:id': conversation('Delete a conversation'),
  'GET /v1/conversations/:id/items': conversation('List the items of a conversation', {
    query: PAGING,
  }),
  'POST /v1/conversations/:id/items': conversation('Add items to a conversation', {
    body: 'ConversationRequest',
  }),
  'GET /v1/conversations/:id/items/:item': conversation('Read an item of a conversation'),
  'DELETE /v1/conversations/:id/items/:item': conversation('Delete an item of a conversation'),
  'POST /v1/embeddings': pooled('Turn texts into vectors', 'EmbeddingRequest'),
  'POST /pooling': pooled('Vectors of texts, one per token or text', 'PoolingRequest'),
  'POST /classify': pooled('Put texts into classes', 'PoolingRequest'),
  'POST /score': pooled('Score pairs of texts', 'ScoreRequest'),
  'POST /v1/score': pooled('Score pairs of texts', 'ScoreRequest'),
  'POST /rerank': pooled('Order documents by a query', 'RerankRequest'),
  'POST /v1/rerank': pooled('Order documents by a query', 'RerankRequest'),
  'POST /v2/rerank': pooled('Order documents by a query', 'RerankRequest'),
  'POST /tokenize': { tag: 'Tokens', summary: 'Token ids of a text', body: 'TokenizeRequest' },
  'POST /detokenize': { tag: 'Tokens', summary: 'Text of token ids', body: 'DetokenizeRequest' },
  'GET /tokenizer_info': { tag: 'Tokens', summary: 'Which tokenizer counts' },
};
