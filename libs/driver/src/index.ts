export { EXECUTED, HandOver, type HeldPrompt } from './handover/hand-over';
export { EngineHost } from './host/engine-host';
export type { Executor, ExecutorNumbers, ExecutorSides } from './host/executor';
export type { HostContext } from './host/host-context';
export type { HostOptions, RankOptions } from './host/host-options';
export { KeptPayloads } from './jobs/kept-payloads';
export { isOver, type Run } from './jobs/run';
export { publishers } from './kv-events/load-publisher';
export { StepLog } from './steps/step-log';
