export { HttpStreams, type Target } from './http-stream';
export { runLoad, type LoadOptions, type LoadRecord } from './load-run';
export { ENDPOINTS, protocolAt, PROTOCOLS, type Protocol } from './protocol/protocol';
export type { RequestDetail } from './recorder';
export { findPromptWords, type PromptWords } from './prompt-words';
export {
  RequestWriter,
  type RecordedRequest,
  type WriterOptions,
  type WrittenWorkload,
} from './request-writer';
export type { ServerAccess } from './server-access';
export { probeServer, ServerTokenizer, type ServerFacts } from './server-probe';
export { readServerFigures, type ServerFigures } from './server-figures';
export { lateEngines } from './step-lag';
export { stepTimesBetween } from './step-times';
export { engineKeyOf, type Sample, samplesOf } from './metric-samples';
