export { serveWork } from './serve-work';
export type { Performed } from './serve-work';
export { WorkPool } from './work-pool';
export type { WorkPoolOptions } from './work-pool';
export { WorkRefused } from './work-refused';
export type { WorkRefusal } from './work-refused';
