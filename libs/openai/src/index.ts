export { answerId, systemFingerprint } from './answer/answer-head';
export type { AnswerHead, AnswerOptions } from './answer/answer-head';
export { modelCard, modelList, versionBody } from './answer/models';
export type { ModelCard } from './answer/models';
export { renderFinal } from './answer/render-final';
export type { FinalContext, FinalFacts, FinishedSequence } from './answer/render-final';
export { parseClassify, parseEmbeddings, parsePooling } from './embeddings/parse-embeddings';
export type { PoolingContext, PoolingTask } from './embeddings/pooling-task';
export { messageId } from './messages/message-facts';
export { renderMessageError } from './messages/message-error';
export { countTokensBody, parseMessages } from './messages/parse-messages';
export { renderMessage } from './messages/render-message';
export { StreamedMessage } from './messages/streamed-message';
export { parseRerank, parseScore } from './score/parse-score';
export { derenderChatBody, derenderCompletionBody } from './tokens/derender';
export { parseGenerate, renderGenerate } from './tokens/generate';
export { renderChatBody, renderCompletionBody } from './tokens/render';
export { StreamedGenerate } from './tokens/streamed-generate';
export { detokenizeBody, tokenizeBody, tokenizerInfoBody } from './tokens/tokens';
export { StreamedAnswer } from './answer/streamed-answer';
export type { StreamRenderer } from './answer/stream-renderer';
export { renderError, renderStreamError } from './errors/render-error';
export type { RenderedError } from './errors/render-error';
export { RequestError } from './errors/request-error';
export type {
  Endpoint,
  GenerationRequest,
  Prompt,
  SaidMessage,
  Sampling,
} from './generation-request';
export type { Dialect, RequestLimits, Strictness } from './limits';
export { planSequence } from './plan-sequence';
export type { PlanContext, SequencePlace } from './plan-sequence';
export { modelNotFound } from './request/check-model';
export { requestSchemas } from './request-schemas';
export type { JsonSchema } from './request/shapes';
export { UpstreamError } from './errors/upstream-error';
export { executedRequest } from './request/executed-request';
export { parseChat } from './request/parse-chat';
export { parseChatBatch } from './request/parse-chat-batch';
export { parseCompletion } from './request/parse-completion';
export { parseJsonBody } from './request/parse-body';
export { asCompaction, renderCompaction } from './responses/compaction';
export {
  conversationObject,
  readConversation,
  readConversationItems,
  readMetadata,
} from './responses/conversations';
export { followReferences } from './responses/items';
export type { Item as ResponseItem } from './responses/items';
export { parseResponse, readResponse } from './responses/parse-response';
export type { ResponseDraft, ResponseLimits, ResponseRequest } from './responses/parse-response';
export { responseIdOf } from './responses/response-context';
export type { ReasoningEvents } from './responses/response-events';
export { renderResponseError } from './responses/response-error';
export type { ResponseEnd, ResponseObject } from './responses/response-object';
export { queuedResponse, ResponseOutcome } from './responses/response-outcome';
export {
  inputTokensBody,
  itemsPage,
  replayEvents,
  startingAfter,
} from './responses/stored-response';
export { isSglangBatch, parseSglangGenerate, renderSglangGenerate } from './sglang/sglang-generate';
export { StreamedSglangGenerate } from './sglang/streamed-sglang-generate';
export { StreamedResponse } from './responses/streamed-response';
