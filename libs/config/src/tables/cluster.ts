import {
  choice,
  integer,
  number,
  optionalChoice,
  optionalInteger,
  optionalText,
  text,
  toggle,
} from '../option';

/** Processes, addresses and pace. */
export const CLUSTER = {
  /** Engines by role, `2P3D`, `4A`, `2P3D1A`. */
  topology: text('2P2D', {
    help:
      'Engines by role: 2P3D is two prefill and three decode engines, 4A four aggregated ones ' +
      '(prefill and decode in one), 2P3D1A a mix.',
    like: '2P3D',
  }),
  /** One role in the foreground instead of a whole cluster. */
  role: optionalChoice(['api', 'prefill', 'decode', 'aggregated', 'planner'], {
    help:
      'Run only this role, in the foreground, and join the other processes of the cluster in ' +
      'the Redis of --redis (required).',
    unset: 'the whole topology, supervised',
  }),
  /** The schedule of engines that join, leave or change their role. */
  changes: optionalText({
    help:
      'Changes of the topology, by simulated time since the start. 60s:+1D adds a decode ' +
      'engine. 120s:-1P removes a prefill engine when it is empty. 180s:1P>D turns a prefill ' +
      'engine into a decode engine.',
    like: '60s:+1D,120s:-1P,180s:1P>D',
    unset: 'the topology stays',
  }),
  maxProcesses: optionalInteger([1, 1024], {
    help:
      'Maximum number of processes of this cluster on this machine. An engine that would ' +
      'exceed it cannot join; the initial topology is not limited.',
    unit: 'processes',
    unset: '16 per core, and no more than fit the available memory at 64 MiB each',
  }),
  enableAdmin: toggle(false, {
    help:
      'Serve /admin/engines, which adds, removes and changes engines, and /admin/config, which ' +
      'changes faults and placement, while the cluster runs. Both need the admin key; if no ' +
      'key is configured, requests from this machine need none.',
  }),
  /** The engines of a worker process that is restarted after its engines have changed. */
  workerEngines: optionalText({
    help: 'Engines of this worker process by role, instead of engines_per_process of its role.',
    pattern: /^(\d+[PDA])+$/,
    like: '1P1D',
    hidden: true,
    unset: 'engines_per_process engines of the role',
  }),
  /** Address the API listens on. */
  host: text('127.0.0.1', {
    help: 'Address that the API listens on; 0.0.0.0 listens on every interface.',
  }),
  port: integer(8000, [0, 65535], {
    help: 'Port of the API. With 0 the API takes a free port, which the ready line names.',
  }),
  dialect: choice(['openai', 'vllm'], 'openai', {
    help: "Format of answers and errors: OpenAI's, or vLLM's byte for byte.",
  }),
  /** Simulated seconds per wall second. */
  speedup: number(1, [0.001, 100_000], {
    help:
      'Simulated seconds per wall second. 10 makes every step, transfer and lease ten times ' +
      'shorter on the wall clock.',
  }),
  /** Wall ms by which results travel before they are due. */
  resultLead: number(5, [0, 20], {
    help:
      'How long before the end of a simulated step its results are sent, at most half of the ' +
      'step, so that their delivery does not add to it. The API writes them, and decode starts a ' +
      'request, when the step has ended. Wall time; all processes need the same value.',
    unit: 'ms',
  }),
  seed: integer(0, [0, Number.MAX_SAFE_INTEGER], {
    help:
      'Seed of all random choices: texts, output lengths, jitter. The same seed gives the same ' +
      'bytes.',
  }),
  enginesPerProcess: optionalInteger([1, 1024], {
    help:
      'Number of engines of one role that share a worker process. Fewer processes use less ' +
      'memory and processor time; when a process is killed, all its engines are lost.',
    unit: 'engines',
    unset:
      'as few as keep the number of worker processes within the number of cores; 1 for an ' +
      'engine that joins later',
  }),
  /** A number or `auto`; see `apiProcessesOf`. */
  apiProcesses: text('1', {
    pattern: /^(auto|[1-9]|[1-5]\d|6[0-4])$/,
    like: 'auto, or a number from 1 to 64',
    help:
      'Number of API processes that share the port of the API, 1 to 64, or auto: one for every ' +
      'two cores. Metrics, load and live page show all of them together.',
  }),
  /** Engines of a cluster's role are numbered over its processes. */
  firstEngine: optionalInteger([0, 4096], {
    help: 'Number of the first engine of this worker process among those of its role.',
    hidden: true,
    unset: 'its engines are numbered within the process',
  }),
  /** A port of its own for each engine. */
  exposeEngines: toggle(false, {
    help:
      'Give every engine an OpenAI port of its own, to test the prefill/decode logic of ' +
      'another router.',
  }),
  /** Port of engine 0; engine i has this plus i. */
  exposeEnginesPort: integer(8100, [1, 65535], {
    help:
      'Port of the first exposed engine. The other engines have the ports after it, in the ' +
      'order of the topology: prefill, decode, aggregated. An engine that joins takes the ' +
      'lowest free port.',
  }),
  /** Broker; unset: found by the rule of docs/ARCHITECTURE.md. */
  redis: optionalText({
    help: 'Redis to use: redis://[user:password@]host:port[/db], rediss:// for TLS, or unix:/path.',
    like: 'redis://127.0.0.1:6379',
    isSecret: true,
    alsoEnv: ['REDIS_URL'],
    unset: 'a private redis-server on a unix socket; without one, all roles in one process',
  }),
  /** `auto`: by the rule of docs/ARCHITECTURE.md. */
  broker: choice(['auto', 'in-process'], 'auto', {
    help:
      'Message broker: auto finds or starts a Redis server, in-process uses no server and runs ' +
      'every role in one process.',
  }),
  /** Whether `broker: auto` may fetch a missing server. */
  install: choice(['auto', 'never'], 'auto', {
    help:
      "Whether Baton may unpack a missing redis-server from the distribution's package into " +
      '~/.cache/baton (or below XDG_CACHE_HOME), for its own use.',
  }),
  redisPrefix: text('baton', {
    help: 'Prefix of every key in Redis, so that several clusters can share one Redis.',
    pattern: /^[\w.:-]+$/,
  }),
  redisMaxmemory: text('1gb', {
    help: 'Memory limit of the private Redis. When it is full, requests get 503.',
    pattern: /^\d+(kb|mb|gb)?$/i,
    like: '512mb',
  }),
} as const;
