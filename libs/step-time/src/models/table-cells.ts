import { HardwareError } from '@baton/hardware';

export interface Cell {
  readonly text: string;
  /** Name of the column. */
  readonly name: string;
  readonly line: number;
  /** Lowest number allowed. */
  readonly min: number;
}

/** @throws HardwareError `bad-profile` with line and column */
export function readNumber({ text, name, line, min }: Cell): number {
  const value = text === '' ? NaN : Number(text);
  if (Number.isFinite(value) && value >= min) return value;
  throw badTable(`line ${line}: ${name} must be a number from ${min}, not '${text}'`);
}

export function badTable(why: string): HardwareError {
  return new HardwareError('bad-profile', `The step-time table cannot be used: ${why}.`);
}
