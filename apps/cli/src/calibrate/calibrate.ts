import { fitKvTransfer } from '@baton/calibration';
import { UsageError } from '@baton/config';
import { claimFile } from '../claim-output';
import { say } from '../say';
import { type Flags, readCalibrateFlags } from './calibrate-flags';
import { fitSteps, writeFile } from './fit-steps';
import { liveFlagsIn } from './live/live-flags';
import { profileYaml } from './profile-yaml';
import { readInput } from './read-input';
import { reportJson, reportText, type Result } from './report';

/**
 * `baton calibrate`: reads measured points, fits a step-time model, prints how well it does and writes
 * the profile when asked to. The result goes to stdout, what could not be used to stderr.
 */
export function calibrate(given: Flags): void {
  const flags = readCalibrateFlags(given);
  if (flags.inputs.length === 0) {
    throw new UsageError('Say what to fit: --input FILE…, or --live to measure a running cluster.');
  }
  const [idle] = liveFlagsIn(given);
  if (idle !== undefined) throw new UsageError(`${idle} has no meaning without --live.`);
  claimFile(flags.out, '--out');
  const inputs = flags.inputs.map((path) => readInput(path, flags.format, flags.input));
  for (const note of inputs.flatMap(({ notes }) => notes)) say(note);
  const calibration = fitSteps(
    inputs.flatMap(({ steps }) => steps),
    flags,
  );
  const transfers = inputs.flatMap((input) => input.transfers ?? []);
  const transfer = transfers.length > 0 ? fitKvTransfer(transfers) : undefined;
  const result: Result = { flags, inputs, calibration, transfer };
  if (flags.out !== undefined) writeFile(flags.out, profileYaml(result), 'profile');
  process.stdout.write(flags.json ? reportJson(result) : reportText(result));
}
