import type { Micros } from './time';

/** A part of an engine's start, such as loading weights. */
export interface StartupPhase {
  readonly cause: string;
  readonly us: Micros;
}

/** The loading times of an engine before it takes work. */
export interface StartupTimes {
  /** Whole loading time, without its causes. */
  readonly startupUs: Micros;
  /** The causes in their order, in place of `startupUs`. Unset: they are not known. */
  readonly startup?: {
    readonly alone: readonly StartupPhase[];
    /** Used instead of `weights` while another engine of the role is ready to load them from. */
    readonly besidePeer: readonly StartupPhase[];
  };
}

/** The phases of one start; at most one, without a known cause, where none is given. */
export function startupPhases(
  { startupUs, startup }: StartupTimes,
  hasPeer: boolean,
): readonly StartupPhase[] {
  if (startup !== undefined) return hasPeer ? startup.besidePeer : startup.alone;
  return startupUs === 0 ? [] : [{ cause: 'startup', us: startupUs }];
}

export function startupLength(phases: readonly StartupPhase[]): Micros {
  return phases.reduce((sum, { us }) => sum + us, 0);
}
