import { type ClassSummary, summarise, type Summary } from '@baton/analysis';
import { classOptions, simulate } from '@baton/cluster';
import { flowControlSpec, type ModulePath, UsageError } from '@baton/config';
import { FLOW_POLICY_KINDS } from '@baton/flow-control';
import type { PolicyFault } from '@baton/placement';
import { type PreparedReplay, prepareReplay } from '@baton/replay';
import { mostGpus } from '@baton/scenario';
import { basename } from 'node:path';
import { withProgress } from '../progress';
import { type GivenReplayFlags, readReplayFlags, type ReplayFlags } from '../replay/replay-flags';
import { runWatched } from '../replay/run-watched';
import { say } from '../say';

/** The results of one policy on the workload. */
interface Outcome {
  readonly policy: string;
  readonly summary: Summary;
  /** Choices that the fallback made because the policy failed. */
  readonly faults: number;
}

const BUILT_IN = ['none', ...FLOW_POLICY_KINDS] as const;

/**
 * `baton policy test --kind flow-control`: replays one workload with the user's flow control
 * policies and with each built-in one, on the virtual clock, and prints a row for each SLO class.
 */
export async function compareFlowPolicies(
  own: readonly ModulePath[],
  { live, ...given }: GivenReplayFlags,
): Promise<void> {
  if (live !== undefined) throw new UsageError('--live tests only placement policies. Remove it.');
  if (given['flowControl'] !== undefined) {
    throw new UsageError('policy test sets the flow control. Remove --flow-control.');
  }
  const flags = readReplayFlags(given);
  const prepared = await withProgress('reading', (onProgress) =>
    prepareReplay(flags, process.env, onProgress),
  );
  for (const note of prepared.notes) say(note);
  const names = [...own, ...BUILT_IN];
  const outcomes = await withProgress('replays', (onProgress) =>
    names.map((name, done) => {
      onProgress(done, names.length);
      return tryPolicy(name, prepared, flags);
    }),
  );
  process.stdout.write(flags.json ? asJson(outcomes) : await asTable(outcomes));
}

function tryPolicy(
  named: PreparedReplay['config']['flowControl'],
  { config, scenario: { flowControl: _none, ...scenario } }: PreparedReplay,
  { slo }: ReplayFlags,
): Outcome {
  const flowControl = flowControlSpec({ ...config, flowControl: named });
  let faults = 0;
  const onFault = ({ message }: PolicyFault): void => {
    if (faults === 0) say(message);
    faults += 1;
  };
  const run = runWatched({ ...config, flowControl: named }, (call) => {
    faults = 0;
    const flow = flowControl && { flowControl };
    return simulate({ ...scenario, ...flow }, { policyWatch: { onFault, call } });
  });
  const summary = summarise(run, {
    ...(slo === undefined ? {} : { slo }),
    ...{ gpus: mostGpus(scenario), wallSeconds: NaN, seed: config.seed },
    classes: classOptions(scenario),
  });
  return { policy: basename(named), summary, faults };
}

function asJson(outcomes: readonly Outcome[]): string {
  const policies = outcomes.map(({ policy, summary, faults }) => {
    const { ttft_ms, tpot_ms, goodput_rps, slo_attainment, slo_classes } = summary;
    const figures = { ttft_ms, tpot_ms, goodput_rps, slo_attainment, slo_classes };
    return { policy, ...figures, policy_faults: faults };
  });
  return `${JSON.stringify({ policies }, null, 2)}\n`;
}

async function asTable(outcomes: readonly Outcome[]): Promise<string> {
  const { consoleTable, formatMs, formatShare } = await import('@baton/report');
  const names = ['policy', 'SLO class', 'attained', 'TTFT p50', 'TTFT p99', 'waited p99', 'faults'];
  const columns = names.map((name, i) => {
    return { name, align: i < 2 ? ('left' as const) : ('right' as const) };
  });
  const rows = outcomes.flatMap(({ policy, summary, faults }) =>
    groupsOf(summary).map(({ name, slo_attainment, ttft_ms, flow_wait_ms }) => [
      ...[policy, name, formatShare(slo_attainment)],
      ...[formatMs(ttft_ms.p50), formatMs(ttft_ms.p99), formatMs(flow_wait_ms?.p99 ?? null)],
      String(faults),
    ]),
  );
  return consoleTable(columns, rows);
}

type Group = Pick<ClassSummary, 'name' | 'slo_attainment' | 'ttft_ms' | 'flow_wait_ms'>;

/** The SLO classes. Without classes, all requests are one group. */
function groupsOf({ slo_classes, slo_attainment, ttft_ms }: Summary): readonly Group[] {
  return slo_classes ?? [{ name: 'all', slo_attainment, ttft_ms }];
}
