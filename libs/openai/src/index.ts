export { FIELDS_WITHOUT_EFFECT, refuseUnknown } from './refusal/known-fields';
export {
  missingField,
  bodyError,
  jsonError,
  missingBody,
  schemaError,
  type SchemaFault,
} from './refusal/schema-error';
export { outside, type BoundFault } from './refusal/openai-faults';
export { pythonFloat } from './refusal/python-text';
export { renderError, renderStreamError, type RenderedError } from './refusal/render-error';
export { RequestError, valueError, type ValueFault } from './refusal/request-error';
export { type Dialect } from './refusal/dialect';
export { UpstreamError } from './refusal/upstream-error';
export {
  answerId,
  systemFingerprint,
  type AnswerHead,
  type AnswerOptions,
} from './answer/answer-head';
export { callId } from './answer/call-id';
export { finishReasonOf } from './answer/finish-reason';
export { LogprobsWriter } from './answer/logprobs-json';
export { modelCard, modelList, versionBody, type ModelCard } from './answer/models';
export {
  renderFinal,
  type FinalChoice,
  type FinalContext,
  type FinalFacts,
  type FinishedSequence,
} from './answer/render-final';
export { reasoningTokens, ReportedTokens } from './answer/reported-tokens';
export type { StreamRenderer } from './answer/stream-renderer';
export { StreamedAnswer } from './answer/streamed-answer';
export { usageJson } from './answer/usage';
export { VisibleText } from './answer/visible-text';
export { vllmBody, vllmChoice } from './answer/vllm-final-shape';
export type {
  Endpoint,
  GenerationRequest,
  Prompt,
  SaidMessage,
  Sampling,
} from './generation-request';
export type { RequestLimits, Strictness } from './limits';
export { planSequence, type PlanContext, type SequencePlace } from './plan-sequence';
export { chatSchemas } from './request-schemas';
export { chatPromptIds, hasMessages } from './request/chat-prompt';
export { ContextLength } from './request/context-length';
export { executedRequest } from './request/executed-request';
export {
  modelNotFound,
  objectBody,
  parseJsonBody,
  parseNested,
  servedModel,
} from './request/parse-body';
export { parseChat } from './request/parse-chat';
export { parseChatBatch } from './request/parse-chat-batch';
export { parseCompletion } from './request/parse-completion';
export { engineFields, fieldShapes, Is, schemaOf, validateBody, Within } from './request/rules';
export { samplingPart } from './request/sampling-request';
export { SamplingDto, TOKEN_IDS } from './request/sampling.dto';
export {
  anyOf,
  arrayOf,
  BOOLEAN,
  INTEGER,
  NUMBER,
  OBJECT,
  recordOf,
  STRING,
  type JsonSchema,
} from './request/shapes';
export { GUIDED_FIELDS } from './request/structured-output';
export { Truncation } from './request/truncation';
export { unsupported } from './request/unsupported';
export { renderMessageError } from './anthropic/message-error';
export { messageId } from './anthropic/message-facts';
export { countTokensBody, parseMessages } from './anthropic/parse-messages';
export { renderMessage } from './anthropic/render-message';
export { messageSchemas } from './anthropic/request-schemas';
export { StreamedMessage } from './anthropic/streamed-message';
export { parseClassify, parseEmbeddings, parsePooling } from './pooling/parse-embeddings';
export { parseRerank, parseScore } from './pooling/parse-score';
export { type PoolingContext, type PoolingTask } from './pooling/pooling-task';
export { poolingSchemas } from './pooling/request-schemas';
export { derenderChatBody, derenderCompletionBody } from './token-api/derender';
export { parseGenerate, renderGenerate } from './token-api/generate';
export { renderChatBody, renderCompletionBody } from './token-api/render';
export { tokenSchemas } from './token-api/request-schemas';
export {
  isSglangBatch,
  parseSglangGenerate,
  renderSglangGenerate,
} from './token-api/sglang/sglang-generate';
export { StreamedSglangGenerate } from './token-api/sglang/streamed-sglang-generate';
export { StreamedGenerate } from './token-api/streamed-generate';
export { detokenizeBody, tokenizeBody, tokenizerInfoBody } from './token-api/tokens';
