export * from './in-process/attach';
export { InProcessHub } from './in-process/hub';
export * from './port';
export * from './redis/connect';
