export { HttpStreams } from './http-stream';
export type { Target } from './http-stream';
export { runLoad } from './load-run';
export type { LoadOptions, LoadRecord } from './load-run';
export { ENDPOINTS, protocolAt, PROTOCOLS } from './protocol/protocol';
export type { Protocol } from './protocol/protocol';
export type { RequestDetail } from './recorder';
