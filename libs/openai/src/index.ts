export {
  FIELDS_WITHOUT_EFFECT,
  missingField,
  outside,
  pythonFloat,
  refuseUnknown,
  renderError,
  renderStreamError,
  RequestError,
  type BoundFault,
  type Dialect,
  type RenderedError,
  UpstreamError,
  valueError,
} from '@baton/refusal';
export { answerId, systemFingerprint } from './answer/answer-head';
export type { AnswerHead, AnswerOptions } from './answer/answer-head';
export { callId } from './answer/call-id';
export { finishReasonOf } from './answer/finish-reason';
export { LogprobsWriter } from './answer/logprobs-json';
export { modelCard, modelList, versionBody } from './answer/models';
export type { ModelCard } from './answer/models';
export { renderFinal } from './answer/render-final';
export type {
  FinalChoice,
  FinalContext,
  FinalFacts,
  FinishedSequence,
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
export { planSequence } from './plan-sequence';
export type { PlanContext, SequencePlace } from './plan-sequence';
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
} from './request/shapes';
export type { JsonSchema } from './request/shapes';
export { GUIDED_FIELDS } from './request/structured-output';
export { Truncation } from './request/truncation';
export { unsupported } from './request/unsupported';
