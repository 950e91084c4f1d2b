export * from './in-process/attach';
export { InProcessHub } from './in-process/hub';
export * from './port';
export * from './redis/connect';
export type { Broker, BrokerOptions } from './broker/broker';
export { detectBroker, resolveBroker } from './broker/resolve-broker';
