import { basename } from 'node:path';
import {
  type ByteStore,
  comparedLatencies,
  compareRuns,
  type RunRecord,
  summarise,
  type Summary,
} from '@baton/analysis';
import {
  classOptions,
  type ClusterScenario,
  type EngineCache,
  frontEndSummary,
  type RunObserver,
  simulate,
  stepTimesOf,
  mostGpus,
} from '@baton/simulation';
import { ratesOf } from '@baton/planner';
import { deploymentErrors } from '@baton/calibration';
import type { PolicyFault, PolicyWatch } from '@baton/policies';
import {
  cachesText,
  type PreparedReplay,
  prepareReplay,
  resolvedOptions,
  shippedTracesText,
  wantsTraceList,
} from '@baton/replay';
import type { ComparisonReport } from '@baton/report';
import { writeFile } from '../calibrate/write-file';
import { claimFile, claimFolder } from '../claim-output';
import { withProgress } from '../progress';
import { say } from '../say';
import { followShadow } from './follow-shadow';
import { type GivenReplayFlags, readReplayFlags, type ReplayFlags } from './replay-flags';
import { runWatched } from './run-watched';
import { summaryJson, writeResultFiles } from './result-files';
import { ShadowLog, shadowText } from './shadow';
import { SpillFile } from './spill-file';
import { StepSpans } from './step-log';

const MS_PER_SECOND = 1_000;
/** Most steps and leaps in a trace for Perfetto; some 20 MB. */
const TRACED_STEPS = 100_000;

/**
 * `baton replay`: runs a workload through a simulated cluster in virtual time, prints the result on
 * stdout (a table, or one JSON document) and writes files when a flag sets a folder. All other
 * output goes to stderr.
 */
export async function replay(given: GivenReplayFlags): Promise<void> {
  const flags = readReplayFlags(given);
  if (wantsTraceList(flags.workload)) {
    process.stdout.write(shippedTracesText());
    return;
  }
  const { shadow: shadowPolicy, followMs } = flags;
  if (shadowPolicy !== undefined && followMs !== undefined) {
    await followShadow({ ...flags, shadow: shadowPolicy });
    return;
  }
  claimFolder(flags.out, '--out');
  claimFile(flags.saveCache, '--save-cache');
  const store = flags.spill === undefined ? undefined : new SpillFile(flags.spill);
  const prepared = await withProgress('reading', (onProgress) =>
    prepareReplay(flags, process.env, onProgress),
  );
  const roles = prepared.scenario.pools.map(({ role }) => role);
  const rates = flags.prices && ratesOf(prepared.config, roles, flags.prices);
  for (const note of prepared.notes) say(note);
  const { watched, wallSeconds } = await timed(prepared, flags, store);
  const { run, steps, faults, shadow, caches } = watched;
  faults.report();
  const stepTimes = stepTimesOf(prepared.scenario.pools);
  const { frontEnd } = prepared.scenario;
  const summary = summarise(run, {
    ...(flags.slo === undefined ? {} : { slo: flags.slo }),
    ...(prepared.scaling ? {} : { gpus: mostGpus(prepared.scenario) }),
    stepTimes,
    ...(frontEnd === undefined ? {} : { frontEnd: frontEndSummary(frontEnd) }),
    ...(prepared.scaling && { scaling: prepared.scaling }),
    classes: classOptions(prepared.scenario),
    rates,
    errorsAt: deploymentErrors(prepared.config, stepTimes),
    isClosedLoop: prepared.scenario.maxConcurrency < Infinity,
    wallSeconds,
    seed: prepared.config.seed,
    config: resolvedOptions(prepared, flags),
  });
  const compared = comparedWith(prepared, run);
  await printResult({ prepared, flags, run, summary, steps, compared, shadow });
  if (flags.saveCache === undefined) return;
  writeFile(flags.saveCache, cachesText(prepared, flags.workload, caches), 'caches');
  say(`wrote ${flags.saveCache}`);
}

/** The choices that the fallback made because the user's own policy failed. */
class PolicyFaults {
  private count = 0;
  private first = '';

  add({ message }: PolicyFault): void {
    if (this.count === 0) this.first = message;
    this.count += 1;
  }

  report(): void {
    if (this.count === 0) return;
    say(this.first);
    const choices = this.count === 1 ? 'that choice' : `${this.count} such choices`;
    say(`A built-in policy made ${choices}; the result is not that of your policy.`);
  }
}

/** A run and what observers recorded of it. */
interface Watched {
  readonly run: RunRecord;
  readonly steps: StepSpans | undefined;
  readonly faults: PolicyFaults;
  readonly shadow: ShadowLog | undefined;
  readonly caches: readonly EngineCache[];
}

function timed(
  { config, scenario }: PreparedReplay,
  flags: ReplayFlags,
  store: ByteStore | undefined,
): Promise<{ watched: Watched; wallSeconds: number }> {
  return withProgress('replay', (onProgress) => {
    const beganMs = performance.now();
    const watched = runWatched(config, (call) =>
      watch(scenario, flags, { onProgress, store, call }),
    );
    return { watched, wallSeconds: (performance.now() - beganMs) / MS_PER_SECOND };
  });
}

function watch(
  scenario: ClusterScenario,
  flags: ReplayFlags,
  {
    onProgress,
    store,
    call,
  }: Pick<RunObserver, 'onProgress' | 'store'> & Pick<PolicyWatch, 'call'>,
): Watched {
  const steps = flags.perfetto ? new StepSpans(TRACED_STEPS) : undefined;
  const faults = new PolicyFaults();
  const shadow = flags.shadow === undefined ? undefined : new ShadowLog(basename(flags.shadow));
  let caches: readonly EngineCache[] = [];
  const run = simulate(scenario, {
    ...(onProgress && { onProgress }),
    store,
    policyWatch: { onFault: (fault) => faults.add(fault), call },
    ...(shadow && { onShadow: (decision) => shadow.add(decision) }),
    ...(steps === undefined ? {} : { onSteps: (span) => steps.add(span) }),
    ...(flags.saveCache !== undefined && { onCaches: (found) => (caches = found) }),
  });
  return { run, steps, faults, shadow, caches };
}

function comparedWith({ recorded }: PreparedReplay, run: RunRecord): ComparisonReport | undefined {
  if (recorded === undefined) return undefined;
  const runs = { recorded, simulated: run };
  const latencies = comparedLatencies(runs);
  return { runs, latencies, comparison: compareRuns(runs, latencies) };
}

interface Outcome {
  readonly prepared: PreparedReplay;
  readonly flags: ReplayFlags;
  readonly run: RunRecord;
  readonly summary: Summary;
  readonly steps: StepSpans | undefined;
  readonly compared: ComparisonReport | undefined;
  readonly shadow: ShadowLog | undefined;
}

async function printResult(outcome: Outcome): Promise<void> {
  const { prepared, flags, run, summary, steps, compared, shadow } = outcome;
  const { config, loaded } = prepared;
  const title = `Replay of ${loaded.source.name} on ${config.topology}`;
  const gpus = summary.gpus === 1 ? '1 GPU' : `${summary.gpus} GPUs`;
  const subtitle = `${config.model}, ${config.gpu}, ${gpus}, seed ${config.seed}`;
  const beside = { comparison: compared?.comparison, shadow: shadow?.summary() };
  if (flags.json) process.stdout.write(summaryJson(summary, beside));
  else {
    const { consoleComparison, consoleSummary } = await import('@baton/report');
    process.stdout.write(consoleSummary(summary, `${title}: ${subtitle}`));
    if (compared) process.stdout.write(consoleComparison(compared.comparison));
    if (beside.shadow) process.stdout.write(await shadowText(beside.shadow));
  }
  if (flags.out === undefined) return;
  const { workload } = loaded;
  const parts = { run, summary, slo: flags.slo, title, subtitle, svg: flags.svg, compared };
  const names = await writeResultFiles(flags.out, {
    ...parts,
    shadow,
    workload,
    page: flags.page ? { model: config.model, topology: config.topology } : undefined,
    steps: steps?.spans,
  });
  say(`wrote ${names.join(', ')} into ${flags.out}`);
}
