export type { BatchEntry, BatchView } from './batch-view';
export type {
  ClusterHello,
  ClusterPicture,
  PictureEngine,
  PicturePhase,
  PictureRates,
  PictureStepTimes,
  Quantiles,
  RequestName,
} from './cluster-picture';
export type { EngineLoad } from './engine-load';
export type { KvPoolMessage, KvPoolNews, KvPoolRead } from './kv-pool-messages';
export type { EngineMessage, MembershipOrder, UpstreamMetrics } from './engine-message';
export type { EngineParameters } from './engine-parameters';
export { packEpoch, submissionOf } from './epoch';
export type { Epoch } from './epoch';
export { BatonError } from './baton-error';
export { ERRORS } from './errors';
export type { CatalogueEntry, ErrorCode } from './errors';
export type { ExecutedRequest, LegFailure, UpstreamFailure } from './executed';
export { FAULT_STAGES, INJECTED } from './fault';
export type { Fault, FaultAction, FaultKind, FaultNote, FaultStage } from './fault';
export { jobId, STAGES } from './job';
export type { EndReason, EngineJob, OwnQueue, Placed, Stage } from './job';
export {
  wantsRemoteDecode,
  hasRemotePrefill,
  faultOfKvTransferParams,
  parseKeptKvParams,
  parseKvTransferParams,
} from './kv-transfer-params';
export type { KvTransferParams } from './kv-transfer-params';
export type { Operation, OperationReply } from './operation';
export { HANDOFF_STATES } from './presence';
export type { EngineGauges, EnginePresence, HistogramSnapshot, StepTimeOrigin } from './presence';
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
export { emptyFrameEntry, frameDueUs, FrameWriter, readFrame } from './token-frame';
export type { FrameEntry, FrameHeader } from './token-frame';
