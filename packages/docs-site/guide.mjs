// The order of the guide: every page of docs/ stands in it once, with a sentence on its content and
// the readers that it is for. docs/README.md lists the same (`npm run docs`).

const everyone = 'everyone';
const platform = 'platform engineers';
const planners = 'capacity planners';
const clients = 'client developers';
const routers = 'authors of routers and autoscalers';
const contributors = 'contributors';

/** Pages are paths below docs/, without their extension. */
export const GUIDE = [
  {
    title: 'Start',
    pages: [
      page(
        'start',
        'Five minutes',
        'Start a cluster, send a request, read the metrics, replay a trace.',
        everyone,
      ),
      page(
        'tour',
        'A tour of the commands',
        'Other clusters, benchmarks, replays, plans, and real engines behind a stage.',
        everyone,
      ),
    ],
  },
  {
    title: 'Tutorials',
    pages: [
      page(
        'tutorials/gateway',
        'Test a gateway or router',
        'Send a request through two engines by hand, then put a router in front.',
        platform,
        routers,
      ),
      page(
        'tutorials/choose-a-split',
        'Choose xP:yD for your traffic',
        'Find the split of eight GPUs that serves the most requests within an SLO.',
        planners,
      ),
      page(
        'tutorials/your-own-client',
        'Load it with your own client',
        "Measure TTFT and TPOT of 20 streams with a script of OpenAI's package.",
        platform,
        clients,
      ),
      page(
        'tutorials/monitor',
        'Scrape and alert',
        'Scrape a loaded cluster with Prometheus and read the Grafana boards.',
        platform,
      ),
      page(
        'tutorials/break-it',
        'Break it on purpose',
        'See what a client receives when a server is busy, stalls or dies.',
        platform,
        clients,
      ),
      page(
        'tutorials/replay-production',
        'Replay production',
        'Record requests and simulate the same load on another cluster.',
        planners,
      ),
      page(
        'tutorials/write-a-policy',
        'Write a policy',
        'Write a placement policy, compare it on a trace, run it live.',
        routers,
      ),
      page(
        'tutorials/kubernetes',
        'Scale on Kubernetes',
        'Run the API, prefill and decode as Deployments, with an autoscaler.',
        platform,
      ),
      page(
        'tutorials/calibrate',
        'Calibrate to your GPUs',
        'Fit step times to a server and check the fit with a separate load.',
        planners,
      ),
    ],
  },
  {
    title: 'Concepts',
    pages: [
      page(
        'concepts',
        'The whole picture',
        'The idea of each part of Baton, for readers who know LLM serving in outline.',
        everyone,
      ),
      page('GLOSSARY', 'Glossary', 'The terms and their exact meanings.', everyone),
      page(
        'hand-over',
        'The hand-over',
        'How KV goes from prefill to decode: leases, fetches, failures.',
        everyone,
      ),
      page(
        'engine',
        'The engine and its batches',
        'How batches are formed, preempted and timed, by the rules of vLLM.',
        planners,
        contributors,
      ),
      page(
        'kv-cache',
        'The KV cache',
        'Blocks, prefixes, eviction, host memory.',
        planners,
        contributors,
      ),
      page(
        'virtual-clock',
        'The virtual clock',
        'How a whole cluster runs in one thread, and how far a live one differs.',
        planners,
        contributors,
      ),
      page(
        'live-driver',
        'The live driver',
        'How an engine runs on the wall clock, with jobs from the broker.',
        contributors,
      ),
      page(
        'membership',
        'Engines that join and leave',
        'How the topology changes while a cluster runs.',
        platform,
        routers,
      ),
      page(
        'data-parallel',
        'Data-parallel ranks',
        'Engines of several ranks, each with its own batch and KV cache.',
        planners,
      ),
      page(
        'step-time',
        'Step times',
        'The models of the duration of one engine step, with sources and errors.',
        planners,
      ),
      page(
        'front-end',
        'The front end',
        'The time that a server in front of an engine adds.',
        planners,
      ),
      page('kv-pool', 'The KV pool', 'The host memory of all engines as one KV store.', planners),
      page(
        'kv-transfer-links',
        'Links for KV transfers',
        'The bytes of a hand-over and the speed of links.',
        planners,
      ),
      page(
        'streaming',
        'Streaming',
        'What the stream of an answer guarantees, and what a token costs.',
        clients,
        contributors,
      ),
    ],
  },
  {
    title: 'How to',
    pages: [
      page(
        'bench',
        'Bench',
        'Load any OpenAI-compatible server and measure what a client sees.',
        platform,
        planners,
      ),
      page(
        'replay',
        'Replay',
        'Run a workload through a simulated cluster and read its latencies.',
        planners,
      ),
      page(
        'planning',
        'Plan',
        'The best split of GPUs within an SLO, its cost and power, and the cheapest fleet.',
        planners,
      ),
      page(
        'autoscaling',
        'Autoscaling',
        'Change the number of engines by a policy, simulated and live.',
        routers,
        platform,
      ),
      page(
        'calibrate',
        'Calibrate',
        'Fit step times to measurements and write a profile.',
        planners,
      ),
      page(
        'workload',
        'Workloads and traces',
        'Traces, generated requests, arrivals, formats.',
        planners,
      ),
      page(
        'python',
        'Replays and plans in Python',
        'Replays and plans as pandas data frames; environments for Gymnasium.',
        planners,
      ),
      page(
        'recording',
        'Record traffic',
        'Record the requests of a cluster and replay them.',
        platform,
      ),
      page('faults', 'Inject faults', 'Rules for errors, delays and losses.', platform, clients),
      page(
        'policies',
        'Policies',
        'Built-in placement and admission, and policies of your own.',
        routers,
      ),
      page(
        'flow-control',
        'SLO classes and flow control',
        'Queues by class and tenant in front of the engines.',
        platform,
        routers,
      ),
      page('live-page', 'The live page', 'The page that shows the cluster at work.', everyone),
      page('timelines', 'Timelines', 'What happened to one request.', platform, clients),
      page('tracing', 'Tracing', 'Spans for an OpenTelemetry collector.', platform),
      page(
        'executing',
        'Execute on real servers',
        'Let vLLM-compatible servers compute the stages.',
        platform,
      ),
      page(
        'llamacpp',
        'A real model in the workers',
        'Let the workers compute a small model and hand over real KV.',
        platform,
      ),
      page(
        'kv-events',
        'KV-cache events',
        'What enters and leaves the prefix caches, for indexers and routers.',
        routers,
      ),
      page('text-models', 'Texts of your own', 'What answers say and how long they are.', clients),
      page(
        'structured-output',
        'Tools and structured output',
        'JSON Schemas, patterns, grammars and tool calls.',
        clients,
      ),
      page(
        'slowness',
        'Slow machines',
        'How Baton distinguishes a late process from a dead one.',
        platform,
      ),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('api', 'API', 'The endpoints in both dialects.', clients),
      page('cli', 'Command line', 'Every command and flag.', everyone),
      page(
        'configuration',
        'Configuration',
        'Every option with unit, range and default.',
        everyone,
      ),
      page(
        'versions',
        'Versions',
        'What is public, and what the numbers of versions promise.',
        everyone,
      ),
      page('metrics', 'Metrics', 'Every metric of the API and the workers.', platform),
      page(
        'compatibility',
        'Request fields',
        'Every field of a chat or completion, and what Baton does with it.',
        clients,
      ),
      page(
        'compatibility-endpoints',
        'Other endpoints',
        'The fields of all other endpoints.',
        clients,
      ),
      page('responses', 'Responses', 'Responses and conversations of OpenAI.', clients),
      page(
        'compatibility-xpyd-sim',
        'Settings of other simulators',
        'The option names of llm-d-inference-sim and xPyD-sim.',
        platform,
      ),
      page('clients', 'Clients', 'Clients that the tests run.', clients),
      page(
        'proxies',
        'Proxies and routers',
        'Proxies and routers that the tests run, and their settings.',
        platform,
        routers,
      ),
      page(
        'limits',
        'Access and limits',
        'Keys, rates, connections, and the work of one request.',
        platform,
      ),
      page('SECURITY', 'Security', 'What Baton trusts and exposes.', platform),
    ],
  },
  {
    title: 'How true is it',
    pages: [
      page(
        'validation',
        'Validation',
        'Simulated figures beside measured and published ones.',
        planners,
      ),
      page(
        'scheduler-comparison',
        "Compared with vLLM's scheduler",
        "How often the engine decides like vLLM's scheduler, step by step.",
        planners,
        contributors,
      ),
      page('error-bars', 'Error bars', 'The 80 % intervals of figures.', planners),
      page(
        'step-time-methods',
        'Step-time methods',
        'How step times are made, by GPU, family of models and number format.',
        planners,
      ),
      page(
        'comparison',
        'Comparison with other projects',
        'Baton beside other simulators of LLM serving.',
        everyone,
      ),
      page(
        'benchmarks',
        'Speed compared with other projects',
        'The same load on Baton and on other simulators.',
        everyone,
      ),
    ],
  },
  {
    title: 'Inside',
    pages: [
      page(
        'ARCHITECTURE',
        'Architecture',
        'The path of a request, the libs, the broker, the processes.',
        contributors,
      ),
      page('INVARIANTS', 'Invariants', 'What holds at every moment of every run.', contributors),
      page('dependencies', 'Dependencies', 'Every installed package and its reason.', contributors),
      page('WRITING', 'Writing', 'How texts of Baton are written.', contributors),
    ],
  },
];

function page(path, title, description, ...readers) {
  return { path, title, description, readers };
}
