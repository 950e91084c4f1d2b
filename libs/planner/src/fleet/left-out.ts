import { type BatonConfig, fileName, type UsageError } from '@baton/config';
import { HardwareError, type HardwareErrorCode } from '@baton/hardware';
import type { EngineRole } from '@baton/policies';

/** A kind of engine that cannot be built. */
export interface LeftOut {
  readonly role: EngineRole;
  /** The options that distinguish it, by the names of the configuration file. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly reason: string;
  /** The reason, one sentence. */
  readonly why: string;
}

const REASONS: Partial<Record<HardwareErrorCode, string>> = {
  'does-not-fit': 'the model does not fit',
  'bad-tensor-parallel': 'the heads cannot be spread so',
  'not-possible': 'the GPU has no units for the number format',
  'not-calibrated': 'step times are not calibrated',
  'not-measured': 'step times are not measured',
};

export function leftOutOf(
  role: EngineRole,
  options: Partial<BatonConfig>,
  { message, cause }: UsageError,
): LeftOut {
  const named = Object.entries(options).map(([key, value]) => [fileName(key), value] as const);
  const reason = cause instanceof HardwareError ? REASONS[cause.code] : undefined;
  return {
    role,
    options: Object.fromEntries(named),
    reason: reason ?? 'options contradict each other',
    why: message,
  };
}

/** One sentence with the reasons, the most frequent first. Undefined: no engine is left out. */
export function noteOnLeftOut(left: readonly LeftOut[], all: number): string | undefined {
  if (left.length === 0) return undefined;
  const counts = new Map<string, number>();
  for (const { reason } of left) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${reason} (${count})`);
  return (
    `${left.length} of ${all} kinds of engine are left out: ${reasons.join(', ')}. ` +
    '--json lists each.'
  );
}
