export { EXECUTED, Handoff, type HeldPrompt } from './handoff/handoff';
export { EngineHost, type HostOptions } from './host/engine-host';
export type { Executor, ExecutorNumbers, ExecutorParts, ExecutorSite } from './jobs/executor';
export { UNLIMITED } from './handoff/source-side';
