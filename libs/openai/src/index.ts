export { RequestError } from './errors/request-error';
export { renderError, renderStreamError } from './errors/render-error';
export type { RenderedError } from './errors/render-error';
export type { Endpoint, GenerationRequest, Prompt, Sampling } from './generation-request';
export type { Dialect, RequestLimits } from './limits';
export { modelNotFound } from './request/check-model';
export { parseJsonBody } from './request/parse-body';
export { parseChat } from './request/parse-chat';
export { parseCompletion } from './request/parse-completion';
