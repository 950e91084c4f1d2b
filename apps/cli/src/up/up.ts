import { once } from 'node:events';
import {
  type BatonConfig,
  configuredAutoscaler,
  configuredChanges,
  isScaled,
  modelNotes,
  readAdminKey,
  readApiKeys,
  readCertificate,
  resolveConfig,
  lengthHistogramOf,
  textFilesOf,
  withStart,
} from '@baton/config';
import { countRanks } from '@baton/simulation';
import {
  checkApiProcesses,
  checkEngineShare,
  checkEnginePorts,
  checkEngines,
  checkOpenFiles,
  claimPort,
  ClusterReadiness,
  enginesOf,
  planOneProcess,
  planProcesses,
  type ProcessSpec,
  type StageCounts,
  Supervisor,
  withScheduledChanges,
  WorkerStarter,
} from '@baton/supervisor';
import type { Broker } from '@baton/transport';
import { obtainBroker } from './broker';
import type { FollowedChanges } from './follow-changes';
import { outliveLostLines } from '../lost-output';
import { withHealthFile } from './health-file';
import { LogOutput } from './log-output';
import { clearOutputFiles } from './output-files';
import { releaseEnded } from './release-ended';
import { readyText } from './ready-text';
import { runRole } from './run-role';
import { StopRequests } from './stop-requests';

const MS_PER_SECOND = 1_000;
const output = new LogOutput();

export type UpFlags = Readonly<Record<string, string | boolean>>;

/**
 * `baton up`: checks the configuration and the machine before it starts any process, then runs the
 * cluster until a stop signal, or until a process fails and is not restarted. Returns the exit
 * code.
 */
export async function up(topology: string | undefined, flags: UpFlags): Promise<number> {
  const startedMs = performance.now();
  outliveLostLines();
  checkOpenFiles();
  const resolved = await resolveUpConfig(topology, flags);
  const engines = enginesOf(resolved);
  if (resolved.role !== undefined) return runRole(resolved);
  readCertificate(resolved);
  readApiKeys(resolved);
  readAdminKey(resolved);
  textFilesOf(resolved);
  if (resolved.outputLength === 'histogram') lengthHistogramOf(resolved);
  // The library for changes is loaded only when there are some.
  const changes = resolved.changes === undefined ? [] : configuredChanges(resolved);
  checkEngines(resolved, withScheduledChanges(engines, changes));
  const ranks = countRanks(resolved, engines);
  const claimed = { ...resolved, port: await claimPort(resolved) };
  if (claimed.exposeEngines) await checkEnginePorts(claimed, ranks);
  if (claimed.broker !== 'in-process') checkEngineShare(planProcesses(claimed, engines));
  clearOutputFiles(claimed);
  const broker = await obtainBroker(claimed, (line) => say(line));
  const isOneProcess = broker.kind === 'in-process';
  if (isOneProcess) checkApiProcesses(claimed);
  const config = isOneProcess ? claimed : { ...claimed, redis: broker.url };
  await withHealthFile(config);
  const specs = isOneProcess ? planOneProcess(config) : planProcesses(config, engines);
  return supervise(specs, { config, broker, engines, startedMs });
}

async function resolveUpConfig(topology: string | undefined, flags: UpFlags): Promise<BatonConfig> {
  const { config: file, ...options } = flags;
  const resolved = resolveConfig({
    flags: { ...options, ...(topology === undefined ? {} : { topology }) },
    env: process.env,
    file: typeof file === 'string' ? file : process.env['BATON_CONFIG_FILE'],
  });
  for (const note of [...resolved.notes, ...modelNotes(resolved.config)]) say(note);
  const { min, max } = resolved.config;
  if (!isScaled(resolved.config) && (min ?? max) === undefined) return resolved.config;
  const config = withStart(resolved);
  if (config.role === undefined) configuredAutoscaler(config, enginesOf(config));
  return config;
}

interface Run {
  readonly config: BatonConfig;
  readonly broker: Broker;
  readonly engines: StageCounts;
  readonly startedMs: number;
}

async function supervise(specs: readonly ProcessSpec[], run: Run): Promise<number> {
  const { config, broker } = run;
  const stops = new StopRequests();
  const failure = new AbortController();
  let failedWith = 1;
  const readiness = new ClusterReadiness(specs.map((spec) => spec.name));
  const supervisor: Supervisor = new Supervisor(specs, {
    onLine: (name, line) => say(line, name),
    onReady: (name) => {
      readiness.onReady(name);
      starter.settled(name);
    },
    onEnded: (_name, pid) => void releaseEnded(config, pid, say),
    onLeft: (name) => starter.settled(name),
    onGivenUp: (sentence, exitCode) => {
      failedWith = exitCode;
      failure.abort(sentence);
    },
    onStartEngines: (role, count) => starter.startNow(role, count),
    onCancelEngines: () => starter.cancelNow(),
  });
  const starter = new WorkerStarter(config, run.engines, supervisor);
  process.once('exit', () => supervisor.kill());
  stops.second.addEventListener('abort', () => {
    say('stopping immediately');
    supervisor.kill();
  });
  supervisor.start();
  const ended = AbortSignal.any([stops.first, failure.signal]);
  let changes: FollowedChanges | undefined;
  if (await readiness.wait(config, ended)) {
    const seconds = (performance.now() - run.startedMs) / MS_PER_SECOND;
    output.print(readyText({ config, specs, seconds }));
    // A process with the whole cluster carries out changes itself.
    const hasChanges = config.changes !== undefined || isScaled(config);
    if (hasChanges && broker.kind !== 'in-process') {
      const { followChanges } = await import('./follow-changes');
      changes = await followChanges(config, starter, say);
    }
  }
  if (!ended.aborted) await once(ended, 'abort');
  const hasFailed = failure.signal.aborted;
  say(
    hasFailed ? String(failure.signal.reason) : 'stopping; press Ctrl-C again to stop immediately',
  );
  await changes?.stop();
  await supervisor.stop(hasFailed ? 0 : config.shutdownTimeout * MS_PER_SECOND);
  await broker.close();
  // Signals stay caught until the end, so that a further one does not change the exit code.
  if (hasFailed) return failedWith;
  return stops.second.aborted ? 1 : 0;
}

function say(line: string, name = 'baton'): void {
  output.say(line, name);
}
