import { type BatonConfig, readAuthorities, UsageError } from '@baton/config';
import { type Stage, STAGES } from '@baton/contract';
import { rootCertificates } from 'node:tls';

type ExecutorConfig = Pick<
  BatonConfig,
  | 'executor'
  | 'executorFor'
  | 'prefillUrl'
  | 'decodeUrl'
  | 'aggregatedUrl'
  | 'upstreamKvConnector'
  | 'prefillBootstrapPort'
  | 'upstreamCa'
>;

/** The executor of a stage: the simulation or a kind of server. */
export type Executing = BatonConfig['executor'];

type UpstreamConfig = ExecutorConfig & Pick<BatonConfig, 'dataParallelSize'>;

/** The address of one engine's server. */
export interface ServerAddress {
  /** `http://host:port`, without a path. */
  readonly url: string;
  /** Port of its bootstrap server. Undefined: it has none. */
  readonly bootstrapPort?: number;
}

const URL_KEYS = {
  prefill: 'prefillUrl',
  decode: 'decodeUrl',
  aggregated: 'aggregatedUrl',
} as const;
/** Default of Mooncake and of SGLang. */
const BOOTSTRAP_PORT = 8_998;
const EXECUTORS: readonly Executing[] = ['simulate', 'vllm', 'llamacpp'];

/** The executor of a stage. @throws UsageError for an invalid `executor_for` */
export function executorOf(config: ExecutorConfig, stage: Stage): Executing {
  const own = config.executorFor.map(stageExecutor).find(([of]) => of === stage);
  return own?.[1] ?? config.executor;
}

/** Whether engines of a stage pass their work on to servers. @throws UsageError as `executorOf` */
export function executes(config: ExecutorConfig, stage: Stage): boolean {
  return executorOf(config, stage) !== 'simulate';
}

/** Whether any stage passes its work on to servers. */
export function executesAny(config: ExecutorConfig): boolean {
  return STAGES.some((stage) => executes(config, stage));
}

/**
 * Checks the servers of a stage. @throws UsageError when there are fewer servers than engines, or
 * when an address is invalid
 */
export function checkUpstreams(config: UpstreamConfig, stage: Stage, engines: number): void {
  readUpstreamCa(config);
  if (config.dataParallelSize > 1) {
    throw new UsageError(
      'executor vllm: the server manages the ranks of an engine; data_parallel_size must be 1.',
    );
  }
  const key = URL_KEYS[stage];
  const urls = config[key].map((url) => originOf(url, key));
  const ports = config.prefillBootstrapPort.map(portOf).length;
  if (stage === 'prefill' && ports > 1 && ports !== engines) {
    throw new UsageError(
      `prefill_bootstrap_port: there are ${ports} ports for ${engines} prefill engines; ` +
        'set one port for all, or one for each.',
    );
  }
  if (urls.length === engines) return;
  throw new UsageError(
    `executor vllm: ${engines} ${stage} engines need as many ${nameOf(key)}, but there are ` +
      `${urls.length}.`,
  );
}

/**
 * The server of a stage's engine in this process, by the engine's number from 1. @throws UsageError
 * when there is none
 */
export function upstreamAt(config: ExecutorConfig, stage: Stage, number: number): ServerAddress {
  const key = URL_KEYS[stage];
  const written = config[key][number - 1];
  if (written !== undefined) {
    const url = originOf(written, key);
    const hasBootstrap = /^(mooncake|sglang)$/.test(config.upstreamKvConnector);
    if (!hasBootstrap || stage !== 'prefill') return { url };
    const [first, ...others] = config.prefillBootstrapPort.map(portOf);
    return { url, bootstrapPort: others[number - 2] ?? first ?? BOOTSTRAP_PORT };
  }
  throw new UsageError(
    `executor vllm: a ${stage} engine has no server. Add one to ${nameOf(key)}.`,
  );
}

/**
 * Certificate authorities for https servers, as PEM: the well-known ones and those of
 * `upstream_ca`. Undefined: only the well-known ones. @throws UsageError
 */
export function readUpstreamCa({
  upstreamCa,
}: Pick<ExecutorConfig, 'upstreamCa'>): string[] | undefined {
  if (upstreamCa === undefined) return undefined;
  return [...rootCertificates, readAuthorities('upstream_ca', upstreamCa)];
}

/** The configuration reduced to the servers of some engines of one stage. */
export function withUpstreams<C extends ExecutorConfig>(
  config: C,
  stage: Stage,
  { from, count }: { readonly from: number; readonly count: number },
): C {
  if (!executes(config, stage)) return config;
  const key = URL_KEYS[stage];
  const { prefillBootstrapPort: ports } = config;
  return {
    ...config,
    [key]: config[key].slice(from, from + count),
    ...(stage === 'prefill' && ports.length > 1
      ? { prefillBootstrapPort: ports.slice(from, from + count) }
      : {}),
  };
}

function stageExecutor(written: string): [Stage, Executing] {
  const [stage = '', executor = ''] = written.split('=');
  const known = STAGES.find((one) => one === stage);
  const does = EXECUTORS.find((one) => one === executor);
  if (known !== undefined && does !== undefined) return [known, does];
  throw new UsageError(
    `executor_for: \`${written}\` is not stage=executor, with ${STAGES.join(', ')} and ` +
      `${EXECUTORS.join(', ')}.`,
  );
}

function originOf(url: string, key: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isHttp = parsed !== undefined && /^https?:$/.test(parsed.protocol);
  const isPlain = parsed?.pathname === '/' && parsed.search === '' && parsed.username === '';
  if (isHttp && isPlain) return parsed.origin;
  throw new UsageError(`${nameOf(key)}: \`${url}\` is not an http or https URL without a path.`);
}

function portOf(written: string): number {
  const port = /^\d{1,5}$/.test(written) ? Number(written) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new UsageError(`prefill_bootstrap_port: \`${written}\` is not a port from 1 to 65535.`);
}

function nameOf(key: string): string {
  return key.replace('U', '_u');
}
