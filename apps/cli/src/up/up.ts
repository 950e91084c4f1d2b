import { once } from 'node:events';
import { type BatonConfig, type Broker, resolveBroker, resolveConfig } from '@baton/runtime';
import { checkCluster, checkHardware } from './checks';
import { planOneProcess, planProcesses } from './cluster-plan';
import { formatLine } from './log-lines';
import { checkEnginePorts, claimPort } from './ports';
import { readyText, untilReady } from './readiness';
import { runRole } from './run-role';
import { StopRequests } from './stop-requests';
import type { ProcessSpec } from './supervised-process';
import { Supervisor } from './supervisor';

const MS_PER_SECOND = 1_000;

export type Flags = Readonly<Record<string, string | boolean>>;

/**
 * `baton up`: checks everything that can be wrong before it starts anything, then runs the cluster until it is told to stop or a process
 * cannot be kept alive. Returns the exit code.
 */
export async function up(topology: string | undefined, flags: Flags): Promise<number> {
  const startedMs = performance.now();
  const { config: file, ...options } = flags;
  const { config: resolved } = resolveConfig({
    flags: { ...options, ...(topology === undefined ? {} : { topology }) },
    env: process.env,
    file: typeof file === 'string' ? file : process.env['BATON_CONFIG_FILE'],
  });
  checkHardware(resolved);
  if (resolved.role !== undefined) return runRole(resolved);
  const engines = checkCluster(resolved);
  const config = { ...resolved, port: await claimPort(resolved) };
  if (config.exposeEngines) {
    await checkEnginePorts(config, engines.prefill + engines.decode + engines.aggregated);
  }
  const broker = await resolveBroker(config);
  process.stderr.write(formatLine('baton', broker.description));
  const specs =
    broker.url === undefined
      ? planOneProcess(config)
      : planProcesses({ ...config, redis: broker.url }, engines);
  return supervise(specs, { config, broker, startedMs });
}

interface Run {
  readonly config: BatonConfig;
  readonly broker: Broker;
  readonly startedMs: number;
}

async function supervise(specs: readonly ProcessSpec[], run: Run): Promise<number> {
  const { config, broker } = run;
  const stops = new StopRequests();
  const failure = new AbortController();
  const supervisor = new Supervisor(specs, {
    onLine: (name, line) => process.stderr.write(formatLine(name, line)),
    onGivenUp: (sentence) => failure.abort(sentence),
  });
  const killAll = (): void => {
    supervisor.kill();
    broker.kill();
  };
  process.once('exit', killAll);
  supervisor.start();
  const ended = AbortSignal.any([stops.first, failure.signal]);
  await announce(run, ended);
  if (!ended.aborted) await once(ended, 'abort');
  if (failure.signal.aborted)
    process.stderr.write(formatLine('baton', String(failure.signal.reason)));
  stops.second.addEventListener('abort', killAll);
  await supervisor.stop(failure.signal.aborted ? 0 : config.shutdownTimeout * MS_PER_SECOND);
  await broker.close();
  stops.close();
  return failure.signal.aborted || stops.second.aborted ? 1 : 0;
}

/** Prints the ready line, unless the cluster ends before it is ready. */
async function announce({ config, startedMs }: Run, ended: AbortSignal): Promise<void> {
  try {
    await untilReady(config, ended);
  } catch (error) {
    if (ended.aborted) return;
    throw error;
  }
  process.stdout.write(readyText(config, (performance.now() - startedMs) / MS_PER_SECOND));
}
