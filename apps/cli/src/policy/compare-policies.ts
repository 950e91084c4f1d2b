import { mean } from '@baton/kernel';
import { type EngineSummary, summarise, type Summary } from '@baton/analysis';
import { simulate } from '@baton/cluster';
import { type ModulePath, placerSpec, UsageError } from '@baton/config';
import { POLICY_KINDS, type PolicyFault, policyName } from '@baton/placement';
import { type PreparedReplay, prepareReplay } from '@baton/replay';
import { mostGpus } from '@baton/scenario';
import { withProgress } from '../progress';
import { type GivenReplayFlags, readReplayFlags, type ReplayFlags } from '../replay/replay-flags';
import { runWatched } from '../replay/run-watched';
import { say } from '../say';
import { type LiveFigures, livePolicies } from './live-policies';
import { ChoiceTimer } from './timed-policy';

/** The results of one policy on the workload. */
interface Outcome {
  readonly policy: string;
  readonly summary: Summary;
  /** Choices that the fallback made because the policy failed. */
  readonly faults: number;
  readonly wallSeconds: number;
  /** Null under `pull`, where engines choose. */
  readonly decisionsPerSecond: number | null;
  /** Undefined: the policy ran only on the virtual clock. */
  readonly live?: LiveFigures | undefined;
}

const BUILT_IN = ['pull', ...POLICY_KINDS] as const;

/**
 * `baton policy test`: replays one workload under the user's policies and under each built-in one,
 * on the virtual clock, and with `--live` also on a cluster of processes. Prints a row for each. A
 * policy applies to both stages.
 */
export async function comparePolicies(
  own: readonly ModulePath[],
  { live: isLive, ...given }: GivenReplayFlags,
): Promise<void> {
  if (given['placement'] !== undefined || given['decodePlacement'] !== undefined) {
    throw new UsageError(
      'policy test sets the placement. Remove --placement and --decode-placement.',
    );
  }
  const [first = ''] = own;
  const flags = readReplayFlags({ ...given, placement: first });
  const prepared = await withProgress('reading', (onProgress) =>
    prepareReplay(flags, process.env, onProgress),
  );
  for (const note of prepared.notes) say(note);
  for (const path of own) placerSpec({ ...prepared.config, placement: path });
  const names = [...own, ...BUILT_IN];
  const live = isLive ? await livePolicies(names, { prepared, flags, given }) : undefined;
  const virtual = await withProgress('replays', (onProgress) =>
    names.map((placement, done) => {
      onProgress(done, names.length);
      return tryPolicy(placement, prepared, flags);
    }),
  );
  const outcomes = virtual.map((outcome, at) => ({ ...outcome, live: live?.get(names[at]!) }));
  process.stdout.write(flags.json ? asJson(outcomes) : await asTable(outcomes));
}

function tryPolicy(
  placement: PreparedReplay['config']['placement'],
  { config, scenario }: PreparedReplay,
  { slo }: ReplayFlags,
): Outcome {
  const timer = new ChoiceTimer();
  const spec = placerSpec({ ...config, placement });
  let faults = 0;
  const beganMs = performance.now();
  const onFault = ({ message }: PolicyFault): void => {
    if (faults === 0) say(message);
    faults += 1;
  };
  const run = runWatched({ ...config, placement }, (call) => {
    faults = 0;
    const timed = { ...scenario, placement: timer.timed(spec) };
    return simulate(timed, { policyWatch: { onFault, call } });
  });
  const wallSeconds = (performance.now() - beganMs) / 1_000;
  const summary = summarise(run, {
    ...(slo === undefined ? {} : { slo }),
    ...{ gpus: mostGpus(scenario), wallSeconds, seed: config.seed },
  });
  const policy = policyName(spec.prefill);
  return { policy, summary, faults, wallSeconds, decisionsPerSecond: timer.perSecond };
}

function rowOf({
  policy,
  summary,
  faults,
  wallSeconds,
  ...rest
}: Outcome): Record<string, unknown> {
  return {
    policy,
    ttft_ms: summary.ttft_ms,
    tpot_ms: summary.tpot_ms,
    goodput_rps: summary.goodput_rps,
    slo_attainment: summary.slo_attainment,
    prefix_hit_rate: summary.prefix_hit_rate,
    imbalance: imbalanceOf(summary.engines),
    policy_faults: faults,
    decisions_per_second: rest.decisionsPerSecond,
    requests_per_wall_second: summary.requests / wallSeconds,
    ...(rest.live && { live: rest.live }),
  };
}

function asJson(outcomes: readonly Outcome[]): string {
  return `${JSON.stringify({ policies: outcomes.map(rowOf) }, null, 2)}\n`;
}

async function asTable(outcomes: readonly Outcome[]): Promise<string> {
  const report = await import('@baton/report');
  const { consoleTable, formatMs, formatNumber, formatShare } = report;
  const names = ['policy', 'TTFT mean', 'TTFT p99', 'TPOT mean', 'goodput/s', 'hits', 'imbalance'];
  const isLive = outcomes.some(({ live }) => live !== undefined);
  const liveNames = isLive ? ['TTFT live', 'TPOT live'] : [];
  const columns = [...names, 'faults', 'choices/s', ...liveNames].map((name, index) => ({
    name,
    align: index === 0 ? ('left' as const) : ('right' as const),
  }));
  const rows = outcomes.map(({ policy, summary, faults, decisionsPerSecond, live }) => [
    policy,
    formatMs(summary.ttft_ms.mean),
    formatMs(summary.ttft_ms.p99),
    formatMs(summary.tpot_ms.mean),
    formatNumber(summary.goodput_rps),
    formatShare(summary.prefix_hit_rate),
    formatNumber(imbalanceOf(summary.engines)),
    String(faults),
    formatNumber(decisionsPerSecond && Math.round(decisionsPerSecond)),
    ...(isLive ? [formatMs(live?.ttft_ms ?? null), formatMs(live?.tpot_ms ?? null)] : []),
  ]);
  return `${consoleTable(columns, rows)}\n${plotOf(outcomes, formatMs)}`;
}

const PLOT_COLUMNS = 48;

/** Mean TTFT of each policy as a bar, the shortest first. */
function plotOf(outcomes: readonly Outcome[], formatMs: (ms: number | null) => string): string {
  const bars = outcomes
    .map(({ policy, summary }) => ({ policy, ms: summary.ttft_ms.mean ?? Infinity }))
    .filter(({ ms }) => ms < Infinity)
    .sort((a, b) => a.ms - b.ms);
  const longest = bars.at(-1)?.ms ?? 0;
  const width = Math.max(0, ...bars.map(({ policy }) => policy.length));
  const lines = bars.map(({ policy, ms }) => {
    const length = longest === 0 ? 0 : Math.max(1, Math.round((ms / longest) * PLOT_COLUMNS));
    return `${policy.padEnd(width)}  ${'█'.repeat(length)} ${formatMs(ms)}`;
  });
  return ['TTFT mean', ...lines, ''].join('\n');
}

/**
 * The busy time of the busiest engine over the mean of its role, from the role with the largest
 * ratio. 1: all engines are equally busy. Null: no engine was busy.
 */
function imbalanceOf(engines: readonly EngineSummary[]): number | null {
  const roles = [...new Set(engines.map(({ role }) => role))];
  const ratios = roles.map((role) => {
    const busy = engines.filter((each) => each.role === role).map((each) => each.busy_seconds ?? 0);
    const average = mean(busy);
    return average === 0 ? 0 : Math.max(...busy) / average;
  });
  const worst = Math.max(...ratios);
  return worst > 0 ? worst : null;
}
