export { attachInProcess } from './in-process/attach';
export { InProcessHub } from './in-process/hub';
export { channels } from './port/bus';
export { TransportForeign, TransportOutOfMemory, TransportUnavailable } from './port/failures';
export { DEFAULT_TIMES } from './times';
export type { Bus, Unsubscribe } from './port/bus';
export type { CollectionBounds, DocumentPlace, DocumentStore } from './port/documents';
export type {
  HandoffRecord,
  RequestLedger,
  RequestResult,
  RequestView,
  RunPermit,
  RunStart,
} from './port/ledger';
export type {
  ConsumeOptions,
  JobFinish,
  HandOver,
  JobConsumer,
  JobQueues,
  QueueName,
  RunClaim,
  TakenJob,
} from './port/queues';
export type { BudgetAnswer, BudgetTake } from './port/rates';
export type { Transport } from './port/transport';
export type { TransportTimes } from './times';
export { connectRedisTransport } from './redis/connect';
