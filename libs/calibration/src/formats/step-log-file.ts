import { type MeasuredStep } from '../fits/measured-step';
import { parseStepLogLine } from '../fits/step-log';
import { UsageError } from '@baton/config';
import { HardwareError } from '@baton/hardware';
import type { InputOptions, Measured } from './measured';

/** Lines between two reports of progress. */
const REPORT_EVERY = 1_000;

/** A recorded log of steps, one JSON object per line (`StepLogEntry` of libs/hardware). */
export function readStepLog(
  path: string,
  text: string,
  { onProgress }: Pick<InputOptions, 'onProgress'>,
): Measured {
  const steps: MeasuredStep[] = [];
  const lines = text.split(/\r?\n/);
  lines.forEach((line, i) => {
    if (i % REPORT_EVERY === 0) onProgress?.(i, lines.length);
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
