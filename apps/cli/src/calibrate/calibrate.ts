import {
  checkOperators,
  fitSteps,
  operatorsJson,
  operatorsText,
  type CalibrationRequest,
  profileYaml,
  readInput,
  type ReadInput,
  reportJson,
  reportText,
  type Result,
  type Calibration,
  fitKvTransfer,
} from '@baton/calibration';
import { UsageError } from '@baton/config';
import { claimFile } from '../claim-output';
import { withProgress } from '../progress';
import { say } from '../say';
import { type Flags, readCalibrateFlags } from './calibrate-flags';
import { withFit } from './default-fit';
import { liveFlagsIn } from './live-flags';
import { measuredConfig, withPrecision } from './measured-deployment';
import { writeFile } from './write-file';

/**
 * `baton calibrate --input`: reads measured points, fits a step-time model, prints its errors and
 * writes the profile when a flag names a file. The result goes to stdout, skipped input and the
 * progress to stderr.
 */
export async function calibrateFiles(given: Flags): Promise<void> {
  const requested = readCalibrateFlags(given);
  const [idle] = liveFlagsIn(given);
  if (idle !== undefined) throw new UsageError(`${idle} has no effect without --live. Remove it.`);
  const { operators } = given;
  if (requested.inputs.length === 0 && typeof operators === 'string') {
    return printChecked(operators, requested);
  }
  if (requested.inputs.length === 0) {
    throw new UsageError(
      'There is nothing to fit. Add --input FILE…, or --live to measure a running cluster; ' +
        '--operators FOLDER alone checks your own tables.',
    );
  }
  if (operators !== undefined && requested.options.fit !== 'factors') {
    throw new UsageError('--operators with --input needs --fit factors.');
  }
  const config = measuredConfig(given, requested.options);
  const { request, whyFit } = withFit(given, withPrecision(requested, config), config);
  claimFile(request.out, '--out');
  const inputs = await readAll(request);
  for (const note of inputs.flatMap(({ notes }) => notes)) say(note);
  const calibration = await fitOf(inputs, request);
  const transfers = inputs.flatMap((input) => input.transfers ?? []);
  const transfer = transfers.length > 0 ? fitKvTransfer(transfers) : undefined;
  const result: Result = {
    request,
    inputs,
    calibration,
    transfer,
    ...(whyFit !== undefined && { whyFit }),
  };
  if (request.out !== undefined) writeFile(request.out, profileYaml(result), 'profile');
  process.stdout.write(request.json ? reportJson(result) : reportText(result));
}

/** `baton calibrate --operators`: the error of each of the user's own tables. */
async function printChecked(folder: string, { options, json }: CalibrationRequest): Promise<void> {
  const check = await withProgress('checking', (onProgress) =>
    checkOperators(folder, options.holdOutEvery, onProgress),
  );
  process.stdout.write(json ? operatorsJson(check) : operatorsText(check));
}

function readAll({ inputs, format, input }: CalibrationRequest): Promise<ReadInput[]> {
  return withProgress('reading', (onProgress) =>
    inputs.map((path, i) => {
      const ofFile = (done: number, whole: number): void => {
        onProgress(i + done / whole, inputs.length);
      };
      return readInput(path, format, { ...input, onProgress: ofFile });
    }),
  );
}

function fitOf(
  inputs: readonly ReadInput[],
  { options }: CalibrationRequest,
): Promise<Calibration> {
  const hasSingleSteps = inputs.every(({ format }) => format === 'baton-log');
  const steps = inputs.flatMap((input) => input.steps);
  return withProgress('fitting', (onProgress) =>
    fitSteps(steps, { options: { ...options, hasSingleSteps, onProgress } }),
  );
}
