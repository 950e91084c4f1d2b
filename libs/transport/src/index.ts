export { attachInProcess } from './in-process/attach';
export { InProcessHub } from './in-process/hub';
export { channels, type Bus, type Unsubscribe } from './port/bus';
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
  JobFinish,
  HandOver,
  JobConsumer,
  JobQueues,
  ProcessId,
  QueueName,
  RunClaim,
  TakenJob,
} from './port/queues';
export type { BudgetAnswer, BudgetTake } from './port/rates';
export type { Transport } from './port/transport';
export { connectRedisTransport } from './redis/connect';
export { type Broker, type BrokerOptions, CacheUnusable } from './broker/broker';
export { detectBroker, resolveBroker } from './broker/resolve-broker';
export { parseRedisAddress, type RedisAddress } from './redis/address/address';
export { redisOptionsOf } from './redis/address/redis-options';
export {
  ALLOW_OOM,
  type Script,
  type ScriptCall,
  type ScriptCalls,
  type ScriptReply,
  ScriptRunner,
  type ScriptValue,
} from './redis/scripts/script';
export { type JobTaker, placeOf, TAKING_ORDER } from './redis/scripts/taking-order';
