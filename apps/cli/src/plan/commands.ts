import { formatSlo } from '@baton/analysis';
import {
  type BatonConfig,
  type ConfigKey,
  defaultConfig,
  flagName,
  optionalFolder,
  optionOf,
  SECTIONS,
} from '@baton/config';
import { type SplitResult, configOf, type PreparedPlan } from '@baton/planner';
import { meanRatePerSecond } from '@baton/workload';
import { flagNameOf } from '@baton/replay';

/** A checkout has the program in its folder; an installed package has it on the PATH. */
const PROGRAM = optionalFolder('packages/docs-site') === undefined ? 'baton' : 'bin/baton';
/** Sections of options that are not part of a plan, except the seed. */
const FOREIGN_SECTIONS = ['Cluster', 'Process'];
const SIZES: readonly ConfigKey[] = ['prefillTensorParallelSize', 'decodeTensorParallelSize'];

/** The command line that starts the split: `bin/baton up 5P11D --model … --gpu … …`. */
export function upCommand({ requested }: PreparedPlan, { split }: SplitResult): string {
  return startCommand(configOf(requested, split));
}

/** The command line that starts the cluster of a configuration. */
export function startCommand(config: BatonConfig): string {
  return commandLine(['up', config.topology, ...flagsOf(config)]);
}

/**
 * The command line that replays the workload on the split at the plan's rate, request by request as
 * in the plan. Undefined when a duration cuts the workload, because it applies after scaling.
 */
export function replayCommand(
  { requested, context, workloadFlags }: PreparedPlan,
  { split, measured }: SplitResult,
): string | undefined {
  if (workloadFlags.duration !== undefined || measured === undefined) return undefined;
  const config = configOf(requested, split);
  const requests = Object.entries(workloadFlags).flatMap(([name, value]) => [
    flagNameOf(name),
    value,
  ]);
  const factor = measured.rate / meanRatePerSecond(context.workload);
  const own = ['--rate-scale', String(factor), '--slo', formatSlo(context.target.slo)];
  return commandLine([
    ...['replay', '--topology', config.topology],
    ...[...requests, ...own, ...flagsOf(config)],
  ]);
}

/** Flags for options that differ from their defaults, and always for model and GPU. */
function flagsOf(config: BatonConfig): string[] {
  const defaults = defaultConfig();
  const keys = SECTIONS.filter(({ title }) => !FOREIGN_SECTIONS.includes(title)).flatMap(
    (section) => section.keys,
  );
  const shown = [...keys, 'seed' as const].filter((key) => {
    const isNamed = key === 'model' || key === 'gpu' || SIZES.includes(key);
    const isSet = config[key] !== undefined && !optionOf(key).hidden;
    return isSet && (isNamed || config[key] !== defaults[key]);
  });
  return shown.flatMap((key) => flagFor(key, config[key]));
}

function flagFor(key: ConfigKey, value: BatonConfig[ConfigKey]): string[] {
  if (value === false) return [flagName(key).replace('--', '--no-')];
  if (value === true) return [flagName(key)];
  return [flagName(key), typeof value === 'object' ? JSON.stringify(value) : String(value)];
}

function commandLine(words: readonly string[]): string {
  return [PROGRAM, ...words.map(quoted)].join(' ');
}

/** A word quoted for a POSIX shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
