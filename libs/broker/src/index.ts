export { type Broker, type BrokerOptions, CacheUnusable } from './broker';
export { detectBroker, resolveBroker } from './resolve-broker';
