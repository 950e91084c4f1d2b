export * from './in-process/attach';
export { InProcessHub } from './in-process/hub';
export * from './port';
export * from './redis/connect';
export { type Broker, type BrokerOptions, CacheUnusable } from './broker/broker';
export { makeFolder } from './broker/make-folder';
export { detectBroker, resolveBroker } from './broker/resolve-broker';
