export {
  engineQueue,
  entryQueue,
  type JobRouting,
  type PromptFacts,
  type RoutedJob,
  routedTo,
  sharedQueue,
  SharedQueues,
} from './job-routing';
export { type PolicyDecisionCount, PolicyDecisionBook } from './policy-decisions';
export { faultReporter, type PolicyFaultCount, PolicyFaultBook } from './policy-faults';
export { buildRouting, needsLoads } from './policy-routing';
