export { type Broker, type BrokerOptions, CacheUnusable } from './broker';
export { makeFolder } from './make-folder';
export { detectBroker, resolveBroker } from './resolve-broker';
