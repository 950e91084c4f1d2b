export { EngineIdentity, type RankOptions } from './engine/engine-identity';
export { EngineSlot, WakeUp } from './engine/engine-slot';
export { Mailbox, type MailReaders } from './engine/mailbox';
export { StepBarrier } from './engine/step-barrier';
export { type StepListener, StepLoop, StepPace } from './engine/step-loop';
export type { KvEvent, KvEventPublisher } from './observers/kv-event';
export { KvEvents } from './observers/kv-events';
export { endpointOf, publishers } from './observers/load-publisher';
export { type RunOutcome, RunSpans } from './observers/run-spans';
export { StepLog } from './observers/step-log';
export { TimelineFacts } from './observers/timeline-facts';
export { PoolNode, type PoolNodeParts } from './pool/pool-node';
export { type FrameOutbox, Frames } from './runs/frames';
export { KeptPayloads } from './runs/kept-payloads';
export {
  type Fetching,
  IncomingRuns,
  isPrefillLeg,
  isRunOver,
  type Run,
  RunTable,
} from './runs/run';
