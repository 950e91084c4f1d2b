import { formatSlo } from '@baton/analysis';
import { flagName, UsageError } from '@baton/config';
import { ratesOf } from '@baton/planner';
import { prepareReplay, type PreparedReplay } from '@baton/replay';
import { claimFolder } from '../../claim-output';
import { withProgress } from '../../progress';
import {
  type GivenReplayFlags,
  readReplayFlags,
  type ReplayFlags,
} from '../../replay/replay-flags';
import { writeFiles } from '../../replay/result-files';
import { say } from '../../say';
import { shareOf } from '../plan-flags';
import { bestStatic } from './best-static';
import { autoscalersCsv, autoscalersConsole, type ComparedAutoscalers } from './output';
import { ORACLES, searchOracles } from './oracles';
import { type ScalingTrial, tryScaling, withAutoscaler, withFloor, withStatic } from './trial';

const ATTAINMENT = 0.9;

/**
 * `baton plan --autoscalers`: replays one workload under each autoscaler, the best fixed split and
 * the oracles, and prints a row for each.
 */
export async function planAutoscalers(given: GivenReplayFlags): Promise<void> {
  const { autoscalers, attainment, ...rest } = given;
  const flags = readReplayFlags(rest);
  const names = namesIn(String(autoscalers), rest);
  const target = shareOf('--attainment', attainment as string | undefined) ?? ATTAINMENT;
  if (flags.slo === undefined) {
    throw new UsageError('The SLO is missing. Add it, for example --slo ttft=2s,tpot=50ms.');
  }
  claimFolder(flags.out, '--out');
  const [first = ORACLES[0]] = names;
  const config = { ...flags.config, ...named(first) };
  const prepared = await withProgress('reading', (onProgress) =>
    prepareReplay({ ...flags, config }, process.env, onProgress),
  );
  for (const note of prepared.notes) say(note);
  await printResult(await compared(prepared, { flags, names, target }), flags);
}

/** Flags that apply only to a search for splits. */
const OF_A_SEARCH = ['gpus', 'space', 'prefillTp', 'decodeTp', 'simulate', 'threads', 'planners'];

function namesIn(list: string, given: GivenReplayFlags): string[] {
  const { autoscaler, scalePolicy, topology } = given;
  const idle = OF_A_SEARCH.find((name) => given[name] !== undefined);
  if (idle !== undefined)
    throw new UsageError(`${flagName(idle)} has no effect with --autoscalers. Remove it.`);
  if ((autoscaler ?? scalePolicy) !== undefined) {
    throw new UsageError(
      '--autoscalers lists all autoscalers. Remove --autoscaler and --scale-policy.',
    );
  }
  if (topology !== undefined) {
    throw new UsageError('--autoscalers starts with the engines of --min. Remove --topology.');
  }
  const names = list.split(',').map((name) => name.trim());
  if (names.every((name) => name !== ''))
    return [...new Set(names)].filter((name) => !isOracle(name));
  throw new UsageError('--autoscalers must be a list, for example hpa:ttft,keda:5,./mine.mjs.');
}

function isOracle(name: string): boolean {
  return ORACLES.some((oracle) => oracle === name);
}

function named(written: string): Record<string, string> {
  return /\.m?js$/.test(written) ? { scalePolicy: written } : { autoscaler: written };
}

interface ComparisonInputs {
  readonly flags: ReplayFlags;
  readonly names: readonly string[];
  readonly target: number;
}

function compared(
  prepared: PreparedReplay,
  { flags, names, target }: ComparisonInputs,
): Promise<ComparedAutoscalers> {
  const { config, scaling } = prepared;
  const { min, max } = scaling!;
  const roles = (['prefill', 'decode', 'aggregated'] as const).filter(
    (role) => scaling!.most[role],
  );
  const rates = flags.prices && ratesOf(config, roles, flags.prices);
  const setting = { prepared, flags, rates, onFault: printFault };
  return withProgress('replays', (onProgress) => {
    let done = 0;
    const attempt = (trial: () => ScalingTrial): ScalingTrial => {
      // The number of runs is unknown until the best split is found.
      onProgress(done++, done + 1);
      return trial();
    };
    const autoscalers = names.map((name) =>
      attempt(() => tryScaling(setting, withAutoscaler(config, name))),
    );
    const splits = bestStatic({ min, max }, target, (topology) =>
      attempt(() => tryScaling(setting, withStatic(config, topology), topology)),
    );
    const oracles = searchOracles({ min, max, trials: splits }, (oracle, floor) =>
      attempt(() => tryScaling(setting, withFloor(withAutoscaler(config, oracle), floor))),
    );
    return {
      workload: prepared.loaded.source.name,
      model: config.model,
      gpu: config.gpu,
      slo: formatSlo(flags.slo!),
      slo_attainment_target: target,
      min,
      max,
      seed: config.seed,
      simulations: done,
      trials: [...autoscalers, ...oracles, ...splits],
    };
  });
}

function printFault({ message }: { readonly message: string }): void {
  say(message);
}

async function printResult(document: ComparedAutoscalers, flags: ReplayFlags): Promise<void> {
  const json = `${JSON.stringify(document, null, 2)}\n`;
  process.stdout.write(flags.json ? json : await autoscalersConsole(document));
  if (flags.out === undefined) return;
  const files = [
    ['plan.json', json],
    ['plan.csv', autoscalersCsv(document)],
  ] as const;
  const names = await writeFiles(flags.out, files);
  say(`wrote ${names.join(', ')} into ${flags.out}`);
}
