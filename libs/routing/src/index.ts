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
export { buildRouting, needsLoads } from './policy-routing';
