import { type CalibrationRequest, FORMATS } from '@baton/calibration';
import { UsageError, gpuOf, modelOf } from '@baton/config';
import { HardwareError } from '@baton/hardware';
import { type Command, Option } from 'commander';

type FlagValue = string | boolean | readonly string[];
export type Flags = Readonly<Record<string, FlagValue | undefined>>;

const HOLD_OUT = 5;
const BATCHED_TOKENS = 8192;
const FITS = ['calibrated', 'factors', 'polynomial'] as const;

export function addCalibrateOptions(command: Command): void {
  const flag = (text: string, help: string): void => {
    command.addOption(new Option(text, help));
  };
  flag('--input <file...>', 'Files with measured steps.');
  flag(
    '--format <name>',
    `Format of every --input file: ${FORMATS.join(', ')} (default: from the content of each file).`,
  );
  flag(
    '--fit <name>',
    'Form of the fit: calibrated (all parameters), factors (three factors on composed steps, ' +
      'for few points), polynomial (default: factors if --model, --gpu and --tp name a server ' +
      'whose steps can be composed, else calibrated).',
  );
  flag(
    '--model <name>',
    'Measured model, by name or by its config.json. It selects rows of a CSV. The profile is ' +
      'valid only for this model.',
  );
  flag(
    '--gpu <name>',
    'Measured GPU, by name or by its file. The profile is valid only for this GPU.',
  );
  flag('--tp <n>', 'Number of GPUs of the measured engine.');
  flag(
    '--overhead-ms <x>',
    'Time in ms added to each step, for measurements of kernels without overhead (default: 0).',
  );
  flag(
    '--max-num-batched-tokens <n>',
    'Token budget of the measured engine. Longer prompts count as several steps (default: ' +
      `${BATCHED_TOKENS}).`,
  );
  flag(
    '--hold-out <k>',
    `Hold every k-th point out of the fit, to print its error. 0: none (default: ${HOLD_OUT}).`,
  );
  flag(
    '--operators <folder>',
    'Folder of your own measured operators, <system>/<operator>.csv as in data/operators. Alone: ' +
      'check the tables and print the error of each on held-out points. With --fit factors: fit ' +
      'the factors on steps composed from them.',
  );
  flag('--seed <n>', 'Seed for the choice of the held-out points (default: 0).');
  flag('--out <file>', 'Write the profile to this file, for --step-time-file.');
  flag('--json', 'Print the result as one JSON document.');
}

/** @throws UsageError, one sentence */
export function readCalibrateFlags(flags: Flags): CalibrationRequest {
  const number = (name: string, rules: NumberRules) => numberOf(flags[name], rules);
  const tp = number('tp', { flag: '--tp', min: 1, fallback: undefined, isWhole: true });
  const placement = {
    model: nameOf(flags['model'], (given) => modelOf(given).name),
    gpu: nameOf(flags['gpu'], (given) => gpuOf(given).name),
    tp,
  };
  const whole = { isWhole: true };
  return {
    inputs: (flags['input'] ?? []) as readonly string[],
    format: choiceOf('--format', FORMATS, flags['format']),
    input: {
      ...placement,
      maxNumBatchedTokens: number('maxNumBatchedTokens', {
        flag: '--max-num-batched-tokens',
        min: 1,
        fallback: BATCHED_TOKENS,
        ...whole,
      })!,
    },
    options: {
      fit: choiceOf('--fit', FITS, flags['fit']) ?? 'calibrated',
      holdOutEvery: holdOutOf(
        number('holdOut', { flag: '--hold-out', min: 0, fallback: HOLD_OUT, ...whole })!,
      ),
      seed: number('seed', { flag: '--seed', min: 0, fallback: 0, ...whole })!,
      placement,
      overheadMs: number('overheadMs', { flag: '--overhead-ms', min: 0, fallback: 0 })!,
    },
    out: typeof flags['out'] === 'string' ? flags['out'] : undefined,
    json: flags['json'] === true,
  };
}

interface NumberRules {
  readonly flag: string;
  readonly min: number;
  readonly fallback: number | undefined;
  readonly isWhole?: boolean;
}

function numberOf(given: FlagValue | undefined, rules: NumberRules): number | undefined {
  const { flag, min, fallback, isWhole = false } = rules;
  if (given === undefined) return fallback;
  const value = String(given).trim() === '' ? NaN : Number(given);
  if (Number.isFinite(value) && value >= min && (!isWhole || Number.isSafeInteger(value))) {
    return value;
  }
  const kind = isWhole ? 'an integer' : 'a number';
  throw new UsageError(`${flag} must be ${kind} from ${min}; '${String(given)}' is not.`);
}

function holdOutOf(every: number): number {
  if (every !== 1) return every;
  throw new UsageError('--hold-out 1 leaves no points to fit. Use 0, or 2 and more.');
}

function choiceOf<C extends string>(
  flag: string,
  choices: readonly C[],
  given: FlagValue | undefined,
): C | undefined {
  if (given === undefined) return undefined;
  const chosen = choices.find((choice) => choice === given);
  if (chosen !== undefined) return chosen;
  throw new UsageError(`${flag} must be one of ${choices.join(', ')}; '${String(given)}' is not.`);
}

/** The name of a model or GPU, which may be given as a file. */
function nameOf(given: FlagValue | undefined, find: (given: string) => string): string | undefined {
  if (given === undefined) return undefined;
  try {
    return find(String(given));
  } catch (error) {
    if (error instanceof HardwareError) throw new UsageError(error.message);
    throw error;
  }
}
