export { checkLlamacpp } from './llamacpp/local-server';
export { LocalServers } from './llamacpp/local-servers';
export { withUpstreamMetrics } from './metrics/upstream-metrics';
export { executedBy } from './upstream/executed-by';
export {
  checkUpstreams,
  executes,
  executesAny,
  executorOf,
  type ServerAddress,
  upstreamAt,
  withUpstreams,
} from './server/executing';
