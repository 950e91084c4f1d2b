export * from './generation-request';
export * from './limits';
