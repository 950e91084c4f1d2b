import { writeFileSync } from 'node:fs';
import { calibrate as fit, type Calibration, fitKvTransfer, HardwareError } from '@baton/hardware';
import { UsageError } from '@baton/runtime';
import { Failure } from '../failure';
import { type CalibrateFlags, type Flags, readCalibrateFlags } from './calibrate-flags';
import { profileYaml } from './profile-yaml';
import { type ReadInput, readInput } from './read-input';
import { reportJson, reportText, type Result } from './report';

const POINTS_MAX = 1_000_000;

/**
 * `baton calibrate`: reads measured points, fits a step-time model, prints how well it does and writes
 * the profile when asked to. The result goes to stdout, what could not be used to stderr.
 */
export function calibrate(given: Flags): void {
  const flags = readCalibrateFlags(given);
  const inputs = flags.inputs.map((path) => readInput(path, flags.format, flags.input));
  for (const note of inputs.flatMap(({ notes }) => notes)) say(note);
  const calibration = fitted(inputs, flags);
  const transfers = inputs.flatMap((input) => input.transfers ?? []);
  const transfer = transfers.length > 0 ? fitKvTransfer(transfers) : undefined;
  const result: Result = { flags, inputs, calibration, transfer };
  if (flags.out !== undefined) writeFile(flags.out, profileYaml(result));
  process.stdout.write(flags.json ? reportJson(result) : reportText(result));
}

/** @throws UsageError when the points are too few, too many, or all of one batch */
function fitted(inputs: readonly ReadInput[], { options }: CalibrateFlags): Calibration {
  const steps = inputs.flatMap((input) => input.steps);
  if (steps.length > POINTS_MAX) {
    throw new UsageError(
      `There are ${steps.length} points; at most ${POINTS_MAX} are fitted, so give a part of them.`,
    );
  }
  try {
    return fit(steps, options);
  } catch (error) {
    if (error instanceof HardwareError) throw new UsageError(error.message);
    throw error;
  }
}

function writeFile(path: string, content: string): void {
  try {
    writeFileSync(path, content);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(`The profile cannot be written: ${why}.`);
  }
}

function say(note: string): void {
  process.stderr.write(`baton: ${note}\n`);
}
