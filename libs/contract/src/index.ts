export * from './engine-message';
export * from './epoch';
export * from './errors';
export * from './job';
export * from './kv-transfer-params';
export * from './presence';
export * from './remote-request-id';
export * from './token-frame';
