import type { MeasuredStep } from '../fits/measured-step';
import { UsageError } from '@baton/config';
import type { InputFormat } from './formats';

/** The contents of one input file. */
export interface Measured {
  readonly steps: readonly MeasuredStep[];
  /** One sentence for each part of the file that is not usable, with the reason. */
  readonly notes: readonly string[];
  /** Transfers of KV, which are not steps: tokens and milliseconds. */
  readonly transfers?: readonly KvTransfer[];
}

export interface KvTransfer {
  readonly tokens: number;
  readonly ms: number;
}

/** The user's facts about the measurements that the file lacks. */
export interface InputOptions {
  readonly model?: string | undefined;
  readonly gpu?: string | undefined;
  readonly tp?: number | undefined;
  /** Token budget of the measured engine. Longer prompts took several steps. */
  readonly maxNumBatchedTokens: number;
  /** Receives the lines that were read of a log of steps. Other formats are read at once. */
  readonly onProgress?: (done: number, whole: number) => void;
}

/** @throws UsageError when the value is not a finite number above `above` */
export function measuredNumber(value: unknown, where: string, above: number): number {
  if (typeof value === 'number' && Number.isFinite(value) && value > above) return value;
  throw new UsageError(`${where} must be a number above ${above}, not ${JSON.stringify(value)}.`);
}

export interface ReadInput extends Measured {
  readonly format: InputFormat;
  readonly file: FileFacts;
}

/** Facts that distinguish files of one name. */
export interface FileFacts {
  readonly sha256: string;
  /** UTC day of its last change, `2026-02-28`. */
  readonly date: string;
}
