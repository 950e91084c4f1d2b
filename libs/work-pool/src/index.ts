export { serveWork } from './serve-work';
export type { Performed } from './serve-work';
export { WorkPool } from './work-pool';
export type { RunOptions, WorkPoolOptions } from './work-pool';
export type { CpuBudget } from './work-thread';
export { WorkRefused } from './work-refused';
export type { WorkRefusal } from './work-refused';
