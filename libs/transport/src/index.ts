export { attachInProcess } from './in-process/attach';
export { InProcessHub } from './in-process/hub';
export { channels, type Bus, type Unsubscribe } from './port/bus';
export { jsonListener } from './port/json-listener';
export {
  TransportForeign,
  TransportOutOfMemory,
  TransportRefused,
  TransportUnavailable,
} from './port/failures';
export { DEFAULT_TIMES, type TransportTimes } from './times';
export type { CollectionBounds, DocumentPlace, DocumentStore } from './port/documents';
export type {
  HandoffRecord,
  RequestLedger,
  RequestResult,
  RequestView,
  ReturnReason,
  RunPermit,
  RunStart,
} from './port/ledger';
export type {
  ConsumeOptions,
  HandOver,
  JobConsumer,
  JobQueues,
  ProcessId,
  QueueName,
  RunClaim,
  TakenJob,
} from './port/queues';
export type { BudgetAnswer, BudgetTake } from './port/rates';
export type { BrokerTrouble, Transport } from './port/transport';
export { connectRedisTransport } from './redis/connect';
export { type Broker, type BrokerOptions, CacheUnusable } from './broker/broker';
export { detectBroker, resolveBroker } from './broker/resolve-broker';
export { redisOptionsOf } from './redis/address/redis-options';
