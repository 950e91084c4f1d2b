import { connectRedisTransport } from '../redis/connect';
import { TransportUnavailable } from '../port/failures';
import {
  type Broker,
  type BrokerOptions,
  DEFAULT_MAX_MEMORY_BYTES,
  type ServerProgram,
} from './broker';
import { canFetch, fetchDebianServer, fetchNotice, findUnpacked } from './debian-package';
import { findProgram } from './find-program';
import { startPrivateServer } from './private-server';

const URL_DEADLINE_MS = 2_500;
const SERVER_NAMES = ['redis-server', 'valkey-server'];

type Log = (line: string) => void;

/**
 * Finds or makes the message broker, in this order:
 *
 * 1. `REDIS_URL`
 * 2. a private `redis-server` or `valkey-server` from the PATH, or unpacked by an earlier start
 * 3. the same from the distribution's package, fetched now
 * 4. none, with everything in this process
 *
 * Each step has a deadline. A log line announces a fetch before it begins; the last log line names
 * the choice.
 *
 * @throws TransportUnavailable when `REDIS_URL` is set and nothing answers there; TransportRefused
 *   when what answers there must be changed.
 * @throws CacheUnusable when a package must be fetched and there is no place for it.
 */
export async function resolveBroker(options: BrokerOptions, log: Log): Promise<Broker> {
  const broker = await chooseBroker(options, log);
  log(broker.line);
  return broker;
}

async function chooseBroker(options: BrokerOptions, log: Log): Promise<Broker> {
  if (options.isInProcess) return inProcessBroker(['--broker in-process']);
  if (options.redisUrl) return brokerAtUrl(options.redisUrl, options.redisPrefix);
  const environment = options.environment ?? process.env;
  const { cacheDirectory } = options;
  const refusals: string[] = [];
  const maxMemoryBytes = options.maxMemoryBytes ?? DEFAULT_MAX_MEMORY_BYTES;
  const start = async (program: ServerProgram, how: string): Promise<Broker | undefined> => {
    const outcome = await startPrivateServer(program, maxMemoryBytes);
    if (outcome.kind === 'started') return privateBroker(outcome.server, program, how);
    refusals.push(`${program.path}: ${outcome.why}`);
    return undefined;
  };
  const path = await findProgram(SERVER_NAMES, environment);
  const found = path === undefined ? undefined : await start({ path }, 'found on the PATH');
  if (found !== undefined) return found;
  const unpacked = await findUnpacked({ environment, cacheDirectory });
  const unpackedBroker = unpacked && (await start(unpacked, 'unpacked earlier'));
  if (unpackedBroker !== undefined) return unpackedBroker;
  if (options.mayInstall !== false && (await canFetch(environment))) {
    log(fetchNotice({ environment, cacheDirectory }));
    const fetched = await fetchDebianServer({ environment, cacheDirectory });
    if (fetched.kind === 'failed') refusals.push(`apt-get: ${fetched.why}`);
    const fresh = fetched.kind === 'fetched' && (await start(fetched.program, fetched.how));
    if (fresh) return fresh;
  }
  return inProcessBroker(refusals);
}

async function brokerAtUrl(url: string, prefix = 'baton'): Promise<Broker> {
  let warning = '';
  const transport = await connectRedisTransport({
    url,
    prefix,
    times: { callDeadlineMs: URL_DEADLINE_MS },
    onWarning: (text) => (warning = text),
  });
  const line = `Message broker: ${transport.description}, from REDIS_URL. ${warning}`.trimEnd();
  await transport.close();
  return { kind: 'url', url, line, close: () => Promise.resolve() };
}

function privateBroker(
  server: { readonly socketPath: string; close(): Promise<void> },
  program: ServerProgram,
  how: string,
): Broker {
  const line = `Message broker: private ${program.path} (${how}) at unix:${server.socketPath}.`;
  const { socketPath } = server;
  return {
    kind: 'private-server',
    url: `unix:${socketPath}`,
    socketPath,
    line,
    close: () => server.close(),
  };
}

const OTHERWISE = 'for a process each, install redis-server or set REDIS_URL.';

function inProcessBroker(refusals: readonly string[]): Broker {
  const why = refusals.length > 0 ? refusals.join('; ') : 'no redis-server here';
  const line = `Message broker: in-process, so all roles run in one process (${why}); ${OTHERWISE}`;
  return { kind: 'in-process', line, close: () => Promise.resolve() };
}

/**
 * The broker that `resolveBroker` would choose, for `baton doctor`. It starts, fetches and changes
 * nothing.
 */
export async function detectBroker(options: BrokerOptions): Promise<BrokerFinding> {
  const environment = options.environment ?? process.env;
  if (options.isInProcess) return IN_PROCESS;
  if (options.redisUrl) return probeUrl(options.redisUrl);
  const path = await findProgram(SERVER_NAMES, environment);
  if (path !== undefined) {
    return { isUsable: true, kind: 'private-server', line: `${path} will be run privately.` };
  }
  const unpacked = await findUnpacked({ environment, cacheDirectory: options.cacheDirectory });
  if (unpacked !== undefined) {
    return {
      isUsable: true,
      kind: 'private-server',
      line: `${unpacked.path} will be run privately.`,
    };
  }
  if (options.mayInstall === false || !(await canFetch(environment))) return IN_PROCESS;
  const line = 'No redis-server here; the first start will unpack the distribution’s package.';
  return { isUsable: true, kind: 'package', line };
}

export interface BrokerFinding {
  /** False only for a REDIS_URL where nothing answers. */
  readonly isUsable: boolean;
  readonly kind: 'url' | 'private-server' | 'package' | 'in-process';
  readonly line: string;
}

const IN_PROCESS: BrokerFinding = {
  isUsable: true,
  kind: 'in-process',
  line: 'No server: all roles will run in one process.',
};

async function probeUrl(url: string): Promise<BrokerFinding> {
  try {
    const broker = await brokerAtUrl(url);
    return { isUsable: true, kind: 'url', line: broker.line };
  } catch (error) {
    if (!(error instanceof TransportUnavailable)) throw error;
    return { isUsable: false, kind: 'url', line: `REDIS_URL: ${error.message}` };
  }
}
