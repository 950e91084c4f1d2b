export { checkedBody, objectBody } from './body/checked-body';
export {
  type BodyClass,
  Holds,
  Is,
  Nested,
  OrText,
  type OwnType,
  RefusesUnknown,
} from './body/declare';
export { engineFields } from './body/for-engine';
export { type JsonSchema, schemaOf } from './body/json-schema';
export { declaredPart } from './body/metadata';
export { wrongItem } from './body/types';
export { FIELDS_WITHOUT_EFFECT } from './refusal/fields-without-effect';
export { outside } from './refusal/openai-faults';
export { renderError, renderStreamError, type RenderedError } from './refusal/render-error';
export { type Complaint, missingField, RequestError, valueError } from './refusal/request-error';
export { type Dialect } from './refusal/dialect';
export { UpstreamError } from './refusal/upstream-error';
export {
  answerId,
  systemFingerprint,
  type AnswerHead,
  type AnswerOptions,
} from './answer/answer-head';
export { LogprobsWriter } from './answer/logprobs-json';
export { modelCard, modelList, versionBody, type ModelCard } from './answer/models';
export { chosenSequences } from './answer/best-choices';
export {
  type AnswerExtras,
  type FinalContext,
  type FinalFacts,
  type FinishedSequence,
  renderFinal,
} from './answer/render-final';
export { reasoningTokens, ReportedTokens } from './answer/reported-tokens';
export { StreamedAnswer } from './answer/streamed-answer';
export { VisibleText } from './answer/visible-text';
export type { Endpoint, GenerationRequest, SaidMessage } from './generation-request';
export type { RequestLimits } from './limits';
export { planSequence, type PlanContext, type SequencePlace } from './plan-sequence';
export { chatSchemas } from './request-schemas';
export { executedRequest } from './request/executed-request';
export { modelNotFound, parseJsonBody, servedModel } from './request/parse-body';
export { parseChat } from './request/parse-chat';
export { ChatCompletionBatchRequest, parseChatBatch } from './request/parse-chat-batch';
export { parseCompletion } from './request/parse-completion';
export { ChatCompletionRequest } from './request/chat.dto';
export { CompletionRequest } from './request/completion.dto';
export { SamplingFields } from './request/sampling.dto';
export { GUIDED_FIELDS } from './request/structured-output';
export { unsupported } from './request/unsupported';
export { renderMessageError } from './anthropic/message-error';
export { CountTokensRequest, MessagesRequest } from './anthropic/messages.dto';
export { messageId } from './anthropic/message-facts';
export { countTokensBody, parseMessages } from './anthropic/parse-messages';
export { renderMessage } from './anthropic/render-message';
export { messageSchemas } from './anthropic/request-schemas';
export { StreamedMessage } from './anthropic/streamed-message';
export { EmbeddingRequest, PoolingRequest, VectorRequest } from './pooling/pooling.dto';
export { RerankRequest, ScoreRequest } from './pooling/score.dto';
export { parseClassify, parseEmbeddings, parsePooling } from './pooling/parse-embeddings';
export { parseRerank, parseScore } from './pooling/parse-score';
export { type PoolingContext, type PoolingTask } from './pooling/pooling-task';
export { poolingSchemas } from './pooling/request-schemas';
export {
  DerenderChatRequest,
  DerenderCompletionRequest,
  derenderChatBody,
  derenderCompletionBody,
} from './token-api/derender';
export { GenerateRequest, parseGenerate, renderGenerate } from './token-api/generate';
export { renderChatBody, renderCompletionBody } from './token-api/render';
export { tokenSchemas } from './token-api/request-schemas';
export { SglangGenerateRequest } from './token-api/sglang.dto';
export { StreamedGenerate } from './token-api/streamed-generate';
export { DetokenizeRequest, TokenizeRequest } from './token-api/tokens.dto';
export { detokenizeBody, tokenizeBody, tokenizerInfoBody } from './token-api/tokens';
export { onlySkipped, skippedTool, type UnsupportedTools } from './request/hosted-tools';
