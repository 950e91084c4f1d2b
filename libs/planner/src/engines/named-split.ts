import { type BatonConfig, type ConfigKey, fileName, UsageError } from '@baton/config';
import { nearestName } from '@baton/kernel';
import { type EngineRole } from '@baton/policies';
import { poolOf } from '@baton/simulation';
import {
  type Candidate,
  candidateName,
  isAggregated,
  type Settings,
  SHORT_NAMES,
} from '../candidates/candidates';
import type { Knob } from './knobs';
import { PLACEMENT_NAMES } from './knobs';
import { configOf } from './split-config';

export interface NamedSplitInputs {
  readonly candidates: readonly Candidate[];
  readonly config: BatonConfig;
  /** Options that the plan tries besides its own, with their values. */
  readonly vary: readonly Knob[];
}

/** The order of settings in names. */
const KEYS = [
  ...['prefillMaxNumBatchedTokens', 'prefillMaxNumSeqs', 'decodeMaxNumSeqs'],
  ...['maxNumBatchedTokens', 'maxNumSeqs', 'decodeMaxNumBatchedTokens'],
  ...['longPrefillTokenThreshold', 'placement', 'enablePrefixCaching'],
];

/**
 * The split that a user calls by its name in the table of splits, such as `4P4D`, `2A tp4 mbt1024`
 * or `3P5D P:mbt2048 D:mns64`.
 *
 * @throws UsageError, one sentence: there is no such split, or its engines cannot be built
 */
export function splitNamed(name: string, inputs: NamedSplitInputs): Candidate {
  const { candidates, config } = inputs;
  const words = name.trim().split(/\s+/);
  const [split, used] = shapeIn(words, candidates) ?? [];
  if (split === undefined) {
    const names = candidates.map(candidateName);
    const near = nearestName(words.slice(0, 2).join(' '), names) ?? names[0];
    throw new UsageError(
      `--explain '${name}' is no split of ${candidates[0]!.gpus} GPUs, such as ${near}.`,
    );
  }
  const own = words.slice(used);
  const pairs = own.map((word) => settingOf(word, split, inputs));
  const rank = ([key]: (typeof pairs)[number]): number =>
    (KEYS.indexOf(key) + KEYS.length) % KEYS.length;
  pairs.sort((a, b) => rank(a) - rank(b));
  const named = { ...split, settings: Object.fromEntries(pairs) as Settings };
  const roles: readonly EngineRole[] = isAggregated(split) ? ['aggregated'] : ['prefill', 'decode'];
  try {
    for (const role of roles) poolOf(configOf(config, named), role, 1);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`--explain '${name}': ${error.message}`);
    throw error;
  }
  return named;
}

/**
 * The candidate that the first words name, and their number. The sizes may be missing where only
 * one candidate has these engines.
 */
function shapeIn(
  words: readonly string[],
  candidates: readonly Candidate[],
): readonly [Candidate, number] | undefined {
  for (let used = words.length; used > 0; used--) {
    const shape = words.slice(0, used).join(' ');
    const split = candidates.find((one) => candidateName(one) === shape);
    if (split !== undefined) return [split, used];
  }
  const alike = candidates.filter((one) => candidateName(one).split(' ')[0] === words[0]);
  const hasSizes = /^(tp|pp)\d/.test(words[1] ?? '');
  return alike.length === 1 && !hasSizes ? [alike[0]!, 1] : undefined;
}

function settingOf(word: string, split: Candidate, { vary }: NamedSplitInputs): [string, unknown] {
  const [, short, digits] = /^((?:[PD]:)?[a-z]+)(\d+)$/.exec(word) ?? [];
  const key = Object.keys(SHORT_NAMES).find((one) => SHORT_NAMES[one] === short);
  if (key !== undefined && isOwn(key as ConfigKey, split)) return [key, Number(digits)];
  if (word === 'caching' || word === 'no-caching')
    return ['enablePrefixCaching', word === 'caching'];
  if (PLACEMENT_NAMES.includes(word)) return ['placement', word];
  const varied = vary.flatMap((knob) => {
    const value = knob.values.find((one) => `${fileName(knob.key)}=${String(one)}` === word);
    return value === undefined ? [] : [[knob.key, value] as [string, unknown]];
  })[0];
  if (varied !== undefined) return varied;
  const example = isAggregated(split) ? 'mbt1024 or mns64' : 'P:mbt2048 or D:mns64';
  throw new UsageError(
    `--explain: '${word}' is no setting of ${candidateName(split)}, as ${example}.`,
  );
}

/** Whether a kind of split has the setting: those of one role belong to splits with roles. */
function isOwn(key: ConfigKey, split: Candidate): boolean {
  if (!/MaxNum|^maxNum/.test(key)) return true;
  return /^maxNum/.test(key) === isAggregated(split);
}
