import { type Micros, ROLE_LETTERS, secondsToUs } from '@baton/kernel';
import { type EngineRole, MAX_ENGINES, type Topology } from './topology';

/**
 * A change of a cluster at an instant of its run, in simulated µs since its start. `join`: engines
 * of the role start. `leave`: the least loaded engines take no more work and leave when they are
 * empty. `become`: like `leave`, and then each starts as an engine of the role `to`.
 */
export type ScheduledChange =
  | {
      readonly atUs: Micros;
      readonly kind: 'join' | 'leave';
      readonly count: number;
      readonly role: EngineRole;
    }
  | {
      readonly atUs: Micros;
      readonly kind: 'become';
      readonly count: number;
      readonly role: EngineRole;
      readonly to: EngineRole;
    };

/**
 * A schedule that cannot be carried out. The message is one line for the user with the expected
 * form.
 */
export class ChangesError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ChangesError';
  }
}

const ROLES = { P: 'prefill', D: 'decode', A: 'aggregated' } as const;
type Letter = keyof typeof ROLES;

const SECONDS = { ms: 1e-3, s: 1, m: 60, h: 3_600 } as const;
const LATEST_US: Micros = secondsToUs(31_536_000);
const MOST_CHANGES = 10_000;

const INSTANT = String.raw`(?<time>\d+(?:\.\d+)?)(?<unit>ms|s|m|h)`;
const JOIN_OR_LEAVE = String.raw`(?<sign>[+-])(?<some>\d+)(?<of>[PDA])`;
const CHANGE_OF_ROLE = String.raw`(?<all>\d+)(?<from>[PDA])>(?<to>[PDA])`;
const CHANGE = new RegExp(`^${INSTANT}:(?:${JOIN_OR_LEAVE}|${CHANGE_OF_ROLE})$`, 'i');
const EXAMPLE = 'write for example 60s:+1D (join), 120s:-1P (leave) or 180s:1P>D (change of role)';

/**
 * Reads `60s:+1D,120s:-1P,180s:1P>D`, in any order and case; units `ms`, `s`, `m`, `h`. Answers in
 * order of time, and of writing at one instant.
 *
 * @throws ChangesError for other text, a count of 0 or above 4,096, a role that becomes itself, an
 *   instant after a year, over 10,000 changes
 */
export function parseChanges(text: string): ScheduledChange[] {
  const parts = text.split(',');
  if (parts.length > MOST_CHANGES) {
    throw new ChangesError(`There are more than ${MOST_CHANGES} changes.`);
  }
  return parts.map((part) => parseChange(part.trim())).sort((a, b) => a.atUs - b.atUs);
}

/** The canonical spelling: seconds, in the given order. */
export function formatChanges(changes: readonly ScheduledChange[]): string {
  return changes.map(formatChange).join(',');
}

function formatChange(change: ScheduledChange): string {
  const { atUs, kind, count, role } = change;
  const when = `${atUs / secondsToUs(1)}s`;
  const who = `${count}${ROLE_LETTERS[role]}`;
  if (kind === 'become') return `${when}:${who}>${ROLE_LETTERS[change.to]}`;
  return `${when}:${kind === 'join' ? '+' : '-'}${who}`;
}

function parseChange(part: string): ScheduledChange {
  const { time, unit, sign, some, of, all, from, to } = CHANGE.exec(part)?.groups ?? {};
  if (time === undefined || unit === undefined) {
    throw new ChangesError(`Change "${shorten(part)}" is not understood: ${EXAMPLE}.`);
  }
  const atUs = secondsToUs(Number(time) * SECONDS[unit.toLowerCase() as keyof typeof SECONDS]);
  if (atUs > LATEST_US) {
    throw new ChangesError(`Change "${shorten(part)}" comes after more than a year.`);
  }
  const count = Number(some ?? all);
  if (count < 1 || count > MAX_ENGINES) {
    throw new ChangesError(
      `Change "${shorten(part)}" concerns ${count} engines: write 1 to ${MAX_ENGINES}.`,
    );
  }
  if (to === undefined) {
    return { atUs, kind: sign === '+' ? 'join' : 'leave', count, role: roleOf(of) };
  }
  if (roleOf(from) === roleOf(to)) {
    throw new ChangesError(`Change "${shorten(part)}" changes nothing: name two roles.`);
  }
  return { atUs, kind: 'become', count, role: roleOf(from), to: roleOf(to) };
}

function roleOf(letter = ''): EngineRole {
  return ROLES[letter.toUpperCase() as Letter];
}

/**
 * Checks that a cluster can follow its schedule: engines that are to leave are ready by then, and
 * each role keeps a ready one, because its jobs would otherwise wait forever. An engine that joins
 * is ready `startupUs` later.
 *
 * @throws ChangesError
 */
export function checkChanges(
  topology: Topology,
  changes: readonly ScheduledChange[],
  startupUs: Micros,
): void {
  const ready = { ...topology };
  const steps = changes.flatMap((change) => stepsOf(change, startupUs));
  // An engine that becomes ready at an instant can leave at the same one.
  steps.sort((a, b) => a.atUs - b.atUs || b.delta - a.delta);
  for (const [i, { atUs, role, delta }] of steps.entries()) {
    ready[role] += delta;
    const isLastOfInstant = steps[i + 1]?.atUs !== atUs;
    if (delta < 0) refuseEmpty(ready[role], -delta, { atUs, role });
    if (isLastOfInstant) refuseCrowd(ready, atUs);
  }
}

interface Step {
  readonly atUs: Micros;
  readonly role: EngineRole;
  readonly delta: number;
}

function stepsOf(change: ScheduledChange, startupUs: Micros): Step[] {
  const { atUs, count, role } = change;
  const readyUs = atUs + startupUs;
  if (change.kind === 'join') return [{ atUs: readyUs, role, delta: count }];
  const gone = { atUs, role, delta: -count };
  if (change.kind === 'become') return [gone, { atUs: readyUs, role: change.to, delta: count }];
  return [gone];
}

function refuseEmpty(left: number, leaving: number, { atUs, role }: Omit<Step, 'delta'>): void {
  if (left > 0) return;
  throw new ChangesError(
    `At ${instant(atUs)} this change removes ${leaving} of ${left + leaving} ready ${role} ` +
      'engines. Keep at least one.',
  );
}

function refuseCrowd({ prefill, decode, aggregated }: Topology, atUs: Micros): void {
  if (prefill + decode + aggregated <= MAX_ENGINES) return;
  throw new ChangesError(`After ${instant(atUs)} there would be over ${MAX_ENGINES} engines.`);
}

function instant(us: Micros): string {
  return `${us / secondsToUs(1)}s`;
}

/** The user's text, cut so that the message stays on one line. */
function shorten(text: string): string {
  const line = text.replace(/[\p{C}\s]+/gu, ' ');
  return line.length > 40 ? `${line.slice(0, 40)}…` : line;
}
