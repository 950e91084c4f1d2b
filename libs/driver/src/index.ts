export { EXECUTED, Handoff, type HeldPrompt } from './handoff/handoff';
export { EngineHost } from './host/engine-host';
export type { Executor, ExecutorNumbers, ExecutorParts, ExecutorSite } from './host/executor';
export type { HostOptions, RankOptions } from './host/host-options';
export { KeptPayloads } from './jobs/kept-payloads';
export { isRunOver, type Run } from './jobs/run';
export { publishers } from './kv-events/load-publisher';
export { StepLog } from './steps/step-log';
