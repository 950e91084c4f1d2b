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
      'Run this one role in the foreground, to join others over the same Redis (needs ' +
      '--redis).',
    unset: 'the whole topology, supervised',
  }),
  /** The schedule of engines that join, leave or change their role. */
  changes: optionalText({
    help:
      'Engines that join, leave or change their role while the cluster runs, in simulated ' +
      'time since its start: 60s:+1D starts a decode engine, 120s:-1P removes a prefill engine ' +
      'once it is empty, 180s:1P>D turns a prefill engine into a decode engine.',
    like: '60s:+1D,120s:-1P,180s:1P>D',
    unset: 'the topology stays',
  }),
  maxProcesses: optionalInteger([1, 1024], {
    help:
      'Processes of this cluster on this machine beyond which no further engine joins; the ' +
      'topology of the start is not limited.',
    unit: 'processes',
    unset: '16 per core, and no more than fit the available memory at 64 MiB each',
  }),
  enableAdmin: toggle(false, {
    help:
      'Serve /admin/engines, which lets engines join, leave or change their role, and ' +
      '/admin/config, which changes faults and placement while the cluster runs. It takes the ' +
      'admin key; without any configured key, requests of this machine need none.',
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
    help: 'Address the API listens on; 0.0.0.0 for every interface.',
  }),
  port: integer(8000, [0, 65535], {
    help: 'Port of the API; 0 takes a free one and the ready line names it.',
  }),
  dialect: choice(['openai', 'vllm'], 'openai', {
    help: "Shape of answers and errors: OpenAI's own, or vLLM's byte for byte.",
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
      'Seed of everything random: texts, output lengths, jitter. The same seed gives the same ' +
      'bytes.',
  }),
  enginesPerProcess: optionalInteger([1, 1024], {
    help:
      'Engines of one role that share a worker process. Fewer processes take less memory and ' +
      'processor time; a killed one takes all its engines with it.',
    unit: 'engines',
    unset:
      'as many as leave the roles no more worker processes than the machine has cores, and ' +
      'one for an engine that joins later',
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
      "Give every engine its own OpenAI port, so that another router's prefill/decode logic " +
      'can be tested against them.',
  }),
  /** Port of engine 0; engine i has this plus i. */
  exposeEnginesPort: integer(8100, [1, 65535], {
    help: 'Port of the first exposed engine; the others follow.',
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
      "Whether a missing redis-server is unpacked from the distribution's package into " +
      '~/.cache/baton (XDG_CACHE_HOME), only for Baton.',
  }),
  redisPrefix: text('baton', {
    help: 'Prefix of every key, so that several clusters share one Redis.',
    pattern: /^[\w.:-]+$/,
  }),
  redisMaxmemory: text('1gb', {
    help: 'Memory limit of a privately started Redis; beyond it requests are refused with 503.',
    pattern: /^\d+(kb|mb|gb)?$/i,
    like: '512mb',
  }),
} as const;
