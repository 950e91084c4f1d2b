import {
  checkOperators,
  factorBase,
  fitSteps,
  operatorsJson,
  operatorsText,
  profileYaml,
  readInput,
  reportJson,
  reportText,
  type Result,
} from '@baton/profiling';
import { UsageError } from '@baton/config';
import { fitKvTransfer } from '@baton/calibration';
import { claimFile } from '../claim-output';
import { say } from '../say';
import { type Flags, readCalibrateFlags } from './calibrate-flags';
import { defaultFit } from './default-fit';
import { liveFlagsIn } from './live-flags';
import { measuredConfig, withPrecision } from './measured-deployment';
import { writeFile } from './write-file';

/**
 * `baton calibrate --input`: reads measured points, fits a step-time model, prints its errors and
 * writes the profile when a flag names a file. The result goes to stdout, skipped input to stderr.
 */
export function calibrateFiles(given: Flags): void {
  const asked = readCalibrateFlags(given);
  const [idle] = liveFlagsIn(given);
  if (idle !== undefined) throw new UsageError(`${idle} has no effect without --live. Remove it.`);
  const { operators } = given;
  if (asked.inputs.length === 0 && typeof operators === 'string') {
    const check = checkOperators(operators, asked.options.holdOutEvery);
    process.stdout.write(asked.json ? operatorsJson(check) : operatorsText(check));
    return;
  }
  if (asked.inputs.length === 0) {
    throw new UsageError(
      'There is nothing to fit. Add --input FILE…, or --live to measure a running cluster; ' +
        '--operators FOLDER alone checks your own tables.',
    );
  }
  if (operators !== undefined && asked.options.fit !== 'factors') {
    throw new UsageError('--operators with --input needs --fit factors.');
  }
  const config = measuredConfig(given, asked.options);
  const named = withPrecision(asked, config);
  const chosen = given['fit'] === undefined ? defaultFit(given, named, config) : undefined;
  const request = {
    ...named,
    options: { ...named.options, fit: chosen?.fit ?? named.options.fit },
  };
  claimFile(request.out, '--out');
  const inputs = request.inputs.map((path) => readInput(path, request.format, request.input));
  for (const note of inputs.flatMap(({ notes }) => notes)) say(note);
  const { options } = request;
  const base = options.fit === 'factors' ? { base: chosen?.base ?? factorBase(config) } : {};
  const hasSingleSteps = inputs.every(({ format }) => format === 'baton-log');
  const calibration = fitSteps(
    inputs.flatMap(({ steps }) => steps),
    { options: { ...options, ...base, hasSingleSteps } },
  );
  const transfers = inputs.flatMap((input) => input.transfers ?? []);
  const transfer = transfers.length > 0 ? fitKvTransfer(transfers) : undefined;
  const result: Result = {
    ...{ request, inputs, calibration, transfer },
    ...(chosen && { whyFit: chosen.why }),
  };
  if (request.out !== undefined) writeFile(request.out, profileYaml(result), 'profile');
  process.stdout.write(request.json ? reportJson(result) : reportText(result));
}
