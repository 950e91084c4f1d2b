import { summarise } from '@baton/analysis';
import { classOptions, simulate, mostGpus } from '@baton/simulation';
import { flagName, type ModulePath, UsageError } from '@baton/config';
import type { PolicyFault } from '@baton/policies';
import { prepareReplay } from '@baton/replay';
import { basename } from 'node:path';
import { EXIT_CODES } from '../exit-codes';
import { withProgress } from '../progress';
import { type GivenReplayFlags, readReplayFlags, type ReplayFlags } from '../replay/replay-flags';
import { runWatched } from '../replay/run-watched';
import { say } from '../say';
import { comparisonJson, comparisonText } from './comparison-output';
import { liveExitCode, livePolicies } from './live-policies';
import { configUnder, type PolicyChoice, type PolicyKind } from './policy-kinds';
import type { PolicyOutcome, PolicyTrial } from './policy-outcome';
import { DecisionTimer } from './timed-policy';

/**
 * `baton policy test`: replays one workload under the user's policies of one kind and under each
 * built-in one, on the virtual clock, and with `live` also on a cluster of processes. Prints a row
 * for each. Returns the exit code.
 */
export async function comparePolicies(
  kind: PolicyKind,
  own: readonly ModulePath[],
  { live: isLive, ...given }: GivenReplayFlags,
): Promise<number> {
  checkUnset(kind, given);
  const modules = own.map((path) => ({ name: basename(path), options: { [kind.option]: path } }));
  const flags = readReplayFlags({ ...given, ...modules[0]!.options });
  const prepared = await withProgress('reading', (onProgress) =>
    prepareReplay(flags, process.env, onProgress),
  );
  for (const note of prepared.notes) say(note);
  const choices: readonly PolicyChoice[] = [...modules, ...kind.builtIn(prepared.config)];
  const trials = choices.map((choice) => {
    return { choice, prepared: prepared.under(configUnder(kind, choice, prepared.config)) };
  });
  const { live: decisions } = kind;
  const live = isLive ? await livePolicies(trials, { flags, given, decisions }) : undefined;
  const virtual = await withProgress('replays', (onProgress) =>
    trials.map((trial, done) => {
      onProgress(done, trials.length);
      return outcomeOf(kind, trial, flags);
    }),
  );
  const outcomes = virtual.map((outcome, at) => ({ ...outcome, live: live?.[at] }));
  const text = flags.json ? comparisonJson(outcomes) : await comparisonText(kind, outcomes);
  process.stdout.write(text);
  return live === undefined ? EXIT_CODES.done : liveExitCode(trials, live);
}

function checkUnset({ option, other }: PolicyKind, given: GivenReplayFlags): void {
  const set = [option, ...(other ? [other] : [])].filter((key) => given[key] !== undefined);
  if (set.length === 0) return;
  const names = set.map(flagName).join(' and ');
  throw new UsageError(`policy test sets the policy itself. Remove ${names}.`);
}

function outcomeOf(
  kind: PolicyKind,
  { choice, prepared }: PolicyTrial,
  { slo }: ReplayFlags,
): PolicyOutcome {
  const { config, scenario, scaling } = prepared;
  const timer = new DecisionTimer();
  const timed = kind.timed(scenario, { config, timer });
  let faults = 0;
  const beganMs = performance.now();
  const onFault = ({ message }: PolicyFault): void => {
    if (faults === 0) say(message);
    faults += 1;
  };
  const run = runWatched(config, (call) => {
    faults = 0;
    return simulate(timed, { policyWatch: { onFault, call } });
  });
  const wallSeconds = (performance.now() - beganMs) / 1_000;
  const summary = summarise(run, {
    ...(slo && { slo }),
    ...(scaling ? { scaling } : { gpus: mostGpus(scenario) }),
    wallSeconds,
    seed: config.seed,
    classes: classOptions(scenario),
  });
  const { perSecond: decisionsPerSecond } = timer;
  return { policy: choice.name, summary, faults, wallSeconds, decisionsPerSecond };
}
