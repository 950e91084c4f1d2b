import {
  fitSteps,
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
import { liveFlagsIn } from './live-flags';
import { writeFile } from './write-file';

/**
 * `baton calibrate --input`: reads measured points, fits a step-time model, prints how well it does
 * and writes the profile when asked to. The result goes to stdout, what could not be used to
 * stderr.
 */
export function calibrateFiles(given: Flags): void {
  const request = readCalibrateFlags(given);
  if (request.inputs.length === 0) {
    throw new UsageError('Say what to fit: --input FILE…, or --live to measure a running cluster.');
  }
  const [idle] = liveFlagsIn(given);
  if (idle !== undefined) throw new UsageError(`${idle} has no meaning without --live.`);
  claimFile(request.out, '--out');
  const inputs = request.inputs.map((path) => readInput(path, request.format, request.input));
  for (const note of inputs.flatMap(({ notes }) => notes)) say(note);
  const calibration = fitSteps(
    inputs.flatMap(({ steps }) => steps),
    request,
  );
  const transfers = inputs.flatMap((input) => input.transfers ?? []);
  const transfer = transfers.length > 0 ? fitKvTransfer(transfers) : undefined;
  const result: Result = { request, inputs, calibration, transfer };
  if (request.out !== undefined) writeFile(request.out, profileYaml(result), 'profile');
  process.stdout.write(request.json ? reportJson(result) : reportText(result));
}
