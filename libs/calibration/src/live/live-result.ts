import type { Result } from '../profiling/report';
import type { EngineTimes, Measurements } from './decompose';
import type { HeldOut } from './held-out';
import type { Reasons } from './reasons';

/** All findings of a calibration of a running cluster. */
export interface LiveResult {
  readonly base: Result;
  readonly name: string;
  readonly topology: string;
  readonly measured: Measurements;
  readonly times: EngineTimes;
  readonly load: { readonly heldOut: HeldOut; readonly reasons: Reasons } | undefined;
}
