export type { BatchEntry, BatchView } from './batch-view';
export type {
  ClusterHello,
  ClusterPicture,
  PictureEngine,
  PicturePhase,
  PictureRates,
  LateFigure,
  PictureStepTimes,
  Quantiles,
  RequestName,
} from './cluster-picture';
export type { EngineLoad } from './engine-load';
export type { KvPoolMessage, KvPoolNews, KvPoolRead } from './kv-pool-messages';
export type { EngineMessage, EngineReport, MembershipOrder } from './engine-message';
export type { EngineParameters } from './engine-parameters';
export { packEpoch, submissionOf, type Epoch } from './epoch';
export { BatonError } from './baton-error';
export { ERRORS, type CatalogueEntry, type ErrorCode } from './errors';
export type { ExecutedRequest, LegFailure, UpstreamFailure } from './executed';
export {
  FAULT_STAGES,
  INJECTED,
  type Fault,
  type FaultAction,
  type FaultKind,
  type FaultNote,
  type FaultStage,
} from './fault';
export {
  invalidFieldOf,
  jobId,
  STAGES,
  type EndReason,
  type EngineJob,
  type OwnQueue,
  type Placed,
  type Stage,
} from './job';
export {
  wantsRemoteDecode,
  hasRemotePrefill,
  faultOfKvTransferParams,
  parseKeptKvParams,
  parseKvTransferParams,
  type KvTransferParams,
} from './kv-transfer-params';
export type { Operation, OperationReply } from './operation';
export {
  HANDOFF_STATES,
  type EngineGauges,
  type EnginePresence,
  type HistogramSnapshot,
  type StepTimeOrigin,
} from './presence';
export { parseRemoteRequestId, remoteRequestId } from './remote-request-id';
export type {
  EngineFact,
  EngineFactKind,
  EngineFacts,
  RequestTimeline,
  RunFacts,
  SequenceTimeline,
  TimelineEngine,
  TimelineEvent,
  TimelineSpan,
  TimelineState,
} from './request-timeline';
export type { ChildMessage, SupervisorMessage } from './supervision';
export {
  emptyFrameEntry,
  frameDueUs,
  FrameWriter,
  readFrame,
  type FrameEntry,
  type FrameHeader,
} from './token-frame';
export { FaultBook, isDue, RETURN_ERROR_HEADER, type FaultSettings } from './faults/fault-book';
export { InjectedError } from './faults/injected-error';
export { FAILURE_TYPES } from './faults/llm-d-failures';
export { readRules, writeRules } from './faults/read-rules';
export { KINDS, type FaultRule } from './faults/rule';
