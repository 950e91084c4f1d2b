export { attachInProcess } from './in-process/attach';
export { InProcessHub } from './in-process/hub';
export { channels, DEFAULT_TIMES, TransportOutOfMemory, TransportUnavailable } from './port';
export type {
  BudgetAnswer,
  BudgetTake,
  Bus,
  CollectionBounds,
  ConsumeOptions,
  DocumentPlace,
  DocumentStore,
  HandoffRecord,
  JobConsumer,
  JobQueues,
  QueueName,
  RequestLedger,
  RequestResult,
  RequestView,
  RunPermit,
  RunStart,
  TakenJob,
  Transport,
  TransportTimes,
  Unsubscribe,
} from './port';
export { connectRedisTransport } from './redis/connect';
export { type Broker, type BrokerOptions, CacheUnusable } from './broker/broker';
export { makeFolder } from './broker/make-folder';
export { detectBroker, resolveBroker } from './broker/resolve-broker';
