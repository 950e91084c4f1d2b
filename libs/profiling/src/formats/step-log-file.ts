import { type MeasuredStep, parseStepLogLine } from '@baton/calibration';
import { UsageError } from '@baton/config';
import { HardwareError } from '@baton/hardware';
import type { Measured } from './measured';

/** A recorded log of steps, one JSON object per line (`StepLogEntry` of libs/hardware). */
export function readStepLog(path: string, text: string): Measured {
  const steps: MeasuredStep[] = [];
  text.split(/\r?\n/).forEach((line, i) => {
    if (line.trim() !== '') steps.push(stepOf(line, `${path}:${i + 1}`));
  });
  return { steps, notes: [] };
}

function stepOf(line: string, where: string): MeasuredStep {
  try {
    return parseStepLogLine(line);
  } catch (error) {
    if (error instanceof HardwareError) throw new UsageError(`${where}: ${error.message}.`);
    throw error;
  }
}
