import type { RandomStream } from '@baton/kernel';
import type { PlacementContext, Policy } from './policy';
import type { EngineRole } from './stage';

/** The longest that one choice of a user's policy may take on the live clock, ms of wall time. */
const MAX_CHOICE_MS = 50;

/** What the `create` of a user's module gets. */
export interface OwnPolicyParts {
  /** The stage whose engines the policy chooses from. */
  readonly stage: EngineRole;
  /** The only source of chance: the same seed gives the same draws. */
  readonly random: RandomStream;
}

/** The default export of a user's module. */
export interface OwnPolicyModule {
  /** Called once per stage and router, so policies share no state. */
  create(parts: OwnPolicyParts): Policy;
}

/** A policy of the user's own, from an ES module. */
export interface OwnPolicySpec {
  readonly kind: 'own';
  /** The path as the user wrote it. */
  readonly path: string;
  readonly module: OwnPolicyModule;
}

export const FAULT_KINDS = ['threw', 'wrong_answer', 'slow'] as const;

/** A choice that a user's policy did not make. */
export interface PolicyFault {
  readonly path: string;
  readonly stage: EngineRole;
  readonly kind: (typeof FAULT_KINDS)[number];
  /** One sentence with file and line where they are known. */
  readonly message: string;
}

export interface PolicyWatch {
  readonly onFault: (fault: PolicyFault) => void;
  /** Wall ms. Undefined on the virtual clock, where no choice is slow. */
  readonly nowMs?: () => number;
}

/**
 * A user's policy with a built-in one behind it. The built-in one chooses where the user's throws,
 * names no engine, or takes over 50 ms of wall time.
 */
export class OwnPolicy implements Policy {
  private readonly own: Policy;

  constructor(
    private readonly spec: OwnPolicySpec,
    parts: OwnPolicyParts,
    private readonly fallback: Policy,
    private readonly watch: PolicyWatch,
  ) {
    this.own = spec.module.create(parts);
  }

  choose(context: PlacementContext): number {
    const { nowMs } = this.watch;
    const startMs = nowMs?.() ?? 0;
    let choice: unknown;
    try {
      choice = this.own.choose(context);
    } catch (error) {
      return this.fallBack(context, 'threw', `threw ${placed(error, this.spec.path)}`);
    }
    const tookMs = (nowMs?.() ?? 0) - startMs;
    const { length } = context.engines;
    if (!isIndex(choice, length)) {
      const expected = `expected an integer from 0 to ${length - 1}`;
      return this.fallBack(context, 'wrong_answer', `returned ${shown(choice)}; ${expected}`);
    }
    if (tookMs <= MAX_CHOICE_MS) return choice;
    const took = `took ${Math.round(tookMs)} ms; at most ${MAX_CHOICE_MS} ms are allowed`;
    return this.fallBack(context, 'slow', took);
  }

  private fallBack(context: PlacementContext, kind: PolicyFault['kind'], what: string): number {
    const { path } = this.spec;
    const { stage } = context;
    this.watch.onFault({ path, stage, kind, message: `${path}: choose (${stage}) ${what}.` });
    return this.fallback.choose(context);
  }
}

function isIndex(choice: unknown, count: number): choice is number {
  return Number.isInteger(choice) && Number(choice) >= 0 && Number(choice) < count;
}

function shown(value: unknown): string {
  return value === null || typeof value !== 'object' ? String(value) : 'an object';
}

/** An error with the line of the user's file that it comes from. */
function placed(error: unknown, path: string): string {
  if (!(error instanceof Error)) return shown(error);
  const file = path.slice(path.lastIndexOf('/') + 1);
  const line = error.stack?.split('\n').find((each) => each.includes(`/${file}:`));
  const place = line === undefined ? undefined : /:(\d+:\d+)\)?$/.exec(line)?.[1];
  const what = `${error.name}: ${error.message}`;
  return place === undefined ? what : `${what} (${file}:${place})`;
}
