import type { BatonConfig, ConfigKey } from '../config';
import { fileName } from '../names';
import type { ForeignMeaning, ForeignName, ForeignNames } from './foreign-name';

const same = (key: keyof BatonConfig): ForeignMeaning => ({ kind: 'option', key });

/** Options that a file of llm-d-inference-sim can also have in a section `latencies`. */
const LATENCIES: readonly ConfigKey[] = [
  'timeToFirstToken',
  'timeToFirstTokenStdDev',
  'interTokenLatency',
  'interTokenLatencyStdDev',
  'kvCacheTransferLatency',
  'kvCacheTransferTimePerToken',
  'prefillOverhead',
  'prefillTimePerToken',
  'prefillTimeStdDev',
  'timeFactorUnderLoad',
];

const TRANSFER_JITTER: ForeignMeaning = {
  kind: 'left-out',
  why: 'transfers of KV have no jitter',
};
const KV_EVENTS: ForeignMeaning = {
  kind: 'left-out',
  why: 'KV events are published with kv_events_endpoint',
};
const CPU_LORAS: ForeignMeaning = {
  kind: 'left-out',
  why: 'in Baton adapters take no memory',
};

/** An empty value means llm-d's rule of precedence, which Baton always applies. */
const calculator: ForeignName = (given) =>
  given === '' || given === null ? { kind: 'granted' } : { kind: 'option', key: 'stepTime' };

const engine: ForeignName = (given) =>
  given === 'vllm'
    ? { kind: 'granted' }
    : { kind: 'refused', why: 'engines behave like those of vLLM' };

/** Baton makes no certificate of its own. */
const selfSigned: ForeignName = (given) =>
  given === false
    ? { kind: 'granted' }
    : { kind: 'refused', why: 'certificates are given by ssl_certfile and ssl_keyfile' };

const KV_CACHE = {
  kv_cache_size: same('numGpuBlocksOverride'),
  enable_kvcache: same('enablePrefixCaching'),
  block_size: same('blockSize'),
  hash_seed: KV_EVENTS,
  zmq_endpoint: KV_EVENTS,
  zmq_max_connect_attempts: KV_EVENTS,
  event_batch_size: KV_EVENTS,
  use_vllm_map_event_format: KV_EVENTS,
  kv_events_replay_endpoint: KV_EVENTS,
  kv_events_replay_queue_size: KV_EVENTS,
} as const;

const JITTER = {
  kv_cache_transfer_latency_std_dev: TRANSFER_JITTER,
  kv_cache_transfer_time_std_dev: TRANSFER_JITTER,
} as const;

/** Names in the YAML of `llm-d-inference-sim --config` that differ from Baton's. */
export const LLM_D_NAMES: ForeignNames = {
  engine,
  latency_calculator: calculator,
  max_waiting_queue_length: same('maxWaitingRequests'),
  max_request_body_size_mb: same('maxRequestBodyMb'),
  self_signed_certs: selfSigned,
  max_cpu_loras: CPU_LORAS,
  fake_metrics_refresh_interval: {
    kind: 'left-out',
    why: 'Baton computes the functions for each scrape',
  },
  ...KV_CACHE,
  ...JITTER,
  ...inSection('kvcache', KV_CACHE),
  ...inSection('latencies', JITTER),
  ...inSection('latencies', Object.fromEntries(LATENCIES.map((key) => [fileName(key), same(key)]))),
};

function inSection(section: string, names: ForeignNames): ForeignNames {
  return Object.fromEntries(
    Object.entries(names).map(([name, meaning]) => [`${section}.${name}`, meaning]),
  );
}
