export { buildFlowPolicy } from './build-policy';
export type { FlowPolicySpec } from './build-policy';
export { FLOW_POLICY_KINDS } from './built-in';
export { FlowControl } from './flow-control';
export type { DropReason, FlowLimits, Ticket } from './flow-control';
export type { FlowContext, FlowPolicy, FlowQueue, Service } from './policy';
export { ONLY_CLASS, SloClasses } from './slo-class';
export type { ClassSigns, SloClass } from './slo-class';
