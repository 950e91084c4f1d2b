import { isConfigKey, keyOf, optionOf } from '@baton/config';
import { GPUS, MODELS } from '@baton/hardware';
import { DATASET_NAMES, SHIPPED_TRACES } from '@baton/replay';
import { KINDS_OF_POLICIES } from '../policy/policy-kinds';

/** Examples: an engine count is free. */
const TOPOLOGIES = ['1P1D', '2P2D', '1P3D', '2P3D', '4P4D', '4P12D', '4A', '8A', '2P2D2A'];

/** Flags whose values are names that no table of options lists. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  '--trace': [...SHIPPED_TRACES.map(({ name }) => name), 'list'],
  '--dataset': DATASET_NAMES,
  '--gpu': GPUS.map(({ name }) => name),
  '--topology': TOPOLOGIES,
  '--kind': Object.keys(KINDS_OF_POLICIES),
  '--backend': ['openai', 'openai-chat', 'responses', 'vllm'],
};

/** Words after the name of a command. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  up: TOPOLOGIES,
  demo: TOPOLOGIES,
  profiles: ['list', 'show', 'plot'],
  policy: ['new', 'test', 'ask'],
  completion: ['bash', 'zsh'],
};

export function offeredWords(command: string): readonly string[] {
  return WORDS[command] ?? [];
}

/** The names that a flag of a command takes; empty where it takes a number, a text or a file. */
export function offeredValues(command: string, flag: string): readonly string[] {
  // The model of a load test is the server's.
  if (flag === '--model') return command === 'bench' ? [] : MODELS.map(({ name }) => name);
  const named = NAMED[flag];
  if (named !== undefined) return named;
  const key = keyOf(flag.replace(/^--/, ''));
  if (!isConfigKey(key)) return [];
  const { form } = optionOf(key);
  return form.kind === 'choice' ? form.choices : [];
}
