// The order of the guide: every page of docs/ stands in it once, with the readers that it is for.

const everyone = 'everyone';
const platform = 'platform engineers';
const planners = 'capacity planners';
const clients = 'client developers';
const routers = 'authors of routers and autoscalers';
const contributors = 'contributors';

/** Pages are paths below docs/, without their extension. */
export const GUIDE = [
  { title: 'Start', pages: [page('start', 'Five minutes', everyone)] },
  {
    title: 'Tutorials',
    pages: [
      page('tutorials/gateway', 'Test a gateway or router', platform, routers),
      page('tutorials/choose-a-split', 'Choose xP:yD for your traffic', planners),
      page('tutorials/your-own-client', 'Load it with your own client', platform, clients),
      page('tutorials/monitor', 'Scrape and alert', platform),
      page('tutorials/break-it', 'Break it on purpose', platform, clients),
      page('tutorials/replay-production', 'Replay production', planners),
      page('tutorials/write-a-policy', 'Write a policy', routers),
      page('tutorials/kubernetes', 'Scale on Kubernetes', platform),
      page('tutorials/calibrate', 'Calibrate to your GPUs', planners),
    ],
  },
  {
    title: 'Concepts',
    pages: [
      page('concepts', 'The whole picture', everyone),
      page('GLOSSARY', 'Glossary', everyone),
      page('hand-over', 'The hand-over', everyone),
      page('engine', 'The engine and its batches', planners, contributors),
      page('kv-cache', 'The KV cache', planners, contributors),
      page('virtual-clock', 'The virtual clock', planners, contributors),
      page('live-driver', 'The live driver', contributors),
      page('placement', 'Placement', routers),
      page('membership', 'Engines that join and leave', platform, routers),
      page('data-parallel', 'Data-parallel ranks', planners),
      page('step-time', 'Step times', planners),
      page('front-end', 'The front end', planners),
      page('kv-pool', 'The KV pool', planners),
      page('kv-transfer-links', 'Links for KV transfers', planners),
      page('streaming', 'Streaming', clients, contributors),
    ],
  },
  {
    title: 'How to',
    pages: [
      page('bench', 'Bench', platform, planners),
      page('replay', 'Replay', planners),
      page('planning', 'Plan', planners),
      page('fleet', 'Search fleets', planners),
      page('autoscaling', 'Autoscaling', routers, platform),
      page('calibrate', 'Calibrate', planners),
      page('workload', 'Workloads and traces', planners),
      page('python', 'Replays and plans in Python', planners),
      page('recording', 'Record traffic', platform),
      page('faults', 'Inject faults', platform, clients),
      page('policies', 'Policies of your own', routers),
      page('flow-control', 'SLO classes and flow control', platform, routers),
      page('live-page', 'The live page', everyone),
      page('timelines', 'Timelines', platform, clients),
      page('tracing', 'Tracing', platform),
      page('executing', 'Execute on real servers', platform),
      page('llamacpp', 'A real model in the workers', platform),
      page('kv-events', 'KV-cache events', routers),
      page('text-models', 'Texts of your own', clients),
      page('structured-output', 'Tools and structured output', clients),
      page('slowness', 'Slow machines', platform),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('api', 'API', clients),
      page('cli', 'Command line', everyone),
      page('configuration', 'Configuration', everyone),
      page('metrics', 'Metrics', platform),
      page('compatibility', 'Request fields', clients),
      page('compatibility-endpoints', 'Other endpoints', clients),
      page('responses', 'Responses', clients),
      page('compatibility-xpyd-sim', 'Settings of other simulators', platform),
      page('clients', 'Clients', clients),
      page('proxies', 'Proxies and routers', platform, routers),
      page('limits', 'Access and limits', platform),
      page('SECURITY', 'Security', platform),
    ],
  },
  {
    title: 'How true is it',
    pages: [
      page('validation', 'Validation', planners),
      page('scheduler-comparison', "Compared with vLLM's scheduler", planners, contributors),
      page('error-bars', 'Error bars', planners),
      page('step-time-methods', 'Step-time methods', planners),
      page('comparison', 'Comparison with other projects', everyone),
      page('benchmarks', 'Speed compared with other projects', everyone),
    ],
  },
  {
    title: 'Inside',
    pages: [
      page('ARCHITECTURE', 'Architecture', contributors),
      page('INVARIANTS', 'Invariants', contributors),
      page('dependencies', 'Dependencies', contributors),
      page('WRITING', 'Writing', contributors),
    ],
  },
];

function page(path, title, ...readers) {
  return { path, title, readers };
}
