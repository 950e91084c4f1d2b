import { isObject, RandomStream } from '@baton/kernel';
import type { PolicyDecision } from './timed-policy';
import type { EngineRole } from './topology/topology';

/** Longest time for one answer of a user's module on the live clock, ms of wall time. */
const MAX_ANSWER_MS = 50;
/**
 * A method is not called again after so many calls without an answer among so many calls, because
 * each of them blocks its process.
 */
const SILENT_CALLS = 3;
const AMONG_CALLS = 1_000;

/**
 * The subject of a policy: requests of a stage, requests in front of all stages, or the engines.
 */
export type PolicyStage = EngineRole | 'flow' | 'cluster';

/** The argument of `create` in a user's module. */
export interface OwnPolicyParts {
  readonly stage: PolicyStage;
  /** The only source of randomness: the same seed gives the same draws. */
  readonly random: RandomStream;
}

/** The default export of a user's module. */
export interface OwnModule<Policy> {
  /** Called once per stage and process, so policies share no state. */
  create(parts: OwnPolicyParts): Policy;
}

/** A user's own policy, from an ES module. */
export interface OwnSpec<Policy> {
  readonly kind: 'own';
  /** The path as the user wrote it. */
  readonly path: string;
  readonly module: OwnModule<Policy>;
  /** File and line of a function of the policy, `my-policy.mjs:12`. Undefined: unknown. */
  readonly placeOf?: (method: unknown) => string | undefined;
}

/** The name of a policy: its kind, or the file of a user's own one. */
export function specName(spec: { readonly kind: string } | OwnSpec<never>): string {
  return 'path' in spec ? spec.path.slice(spec.path.lastIndexOf('/') + 1) : spec.kind;
}

const STAGES: readonly PolicyStage[] = ['prefill', 'decode', 'aggregated'];

/**
 * The policy module among the exports of a user's file, or its error: the rest of a sentence that
 * begins with the file. The policy is tried for every stage.
 *
 * @param method that its policies must have
 * @param stages that it decides on
 */
export function readOwnModule<Policy>(
  exported: unknown,
  method: keyof Policy & string,
  stages = STAGES,
): { readonly module: OwnModule<Policy> } | { readonly problem: string } {
  const module = isObject(exported) ? exported['default'] : undefined;
  if (!isModule<Policy>(module)) {
    const example = '`baton policy new` writes an example';
    return { problem: ` has no default export with a function create; ${example}.` };
  }
  for (const stage of stages) {
    const problem = tryOut(module, method, stage);
    if (problem !== undefined) return { problem: `: create (${stage}) ${problem}.` };
  }
  return { module };
}

function isModule<Policy>(given: unknown): given is OwnModule<Policy> {
  return isObject(given) && typeof given['create'] === 'function';
}

function tryOut(
  module: OwnModule<unknown>,
  method: string,
  stage: PolicyStage,
): string | undefined {
  try {
    const policy = module.create({ stage, random: RandomStream.root(0) });
    disarm(policy);
    if (isObject(policy) && typeof policy[method] === 'function') return undefined;
    return `returned no object with ${method}`;
  } catch (error) {
    return `threw ${String(error)}`;
  }
}

/** The error of a missing or invalid answer of a user's policy. */
export interface PolicyFault {
  readonly path: string;
  readonly stage: PolicyStage;
  readonly kind: 'threw' | 'wrong_answer' | 'slow' | 'no_answer';
  /** One sentence with file and line where they are known. */
  readonly message: string;
}

/** Calls a policy. @throws NoAnswer when it had to end the call */
export type PolicyCall = <Answer>(ask: () => Answer) => Answer;

/** A call of a policy that did not return and was ended. */
export class NoAnswer extends Error {
  /** @param place file and line of the code that ran; undefined: unknown */
  constructor(
    readonly afterMs: number,
    readonly place?: string,
  ) {
    super(`no answer within ${afterMs} ms`);
  }
}

export interface PolicyWatch {
  readonly onFault: (fault: PolicyFault) => void;
  /** Counts the decisions of built-in and users' policies. Undefined: they are not timed. */
  readonly onDecision?: (decision: PolicyDecision) => void;
  /** Wall ms. Undefined on the virtual clock, where no answer is slow. */
  readonly nowMs?: () => number;
  /** Undefined: a call that does not return blocks its caller. */
  readonly call?: PolicyCall | undefined;
  /** Called for each user's policy before its first call. */
  readonly prepare?: () => void;
}

/** Called when a user's policy gave no valid answer. */
export class PolicyError extends Error {}

/** Ends the run at the first fault, when nothing counts faults. */
export const STRICT: PolicyWatch = {
  onFault: ({ message }) => {
    throw new PolicyError(message);
  },
};

/** The source of a user's policy, for messages about its faults. */
export interface PolicyOrigin {
  readonly path: string;
  readonly stage: PolicyStage;
  /** File and line of one of its methods. Undefined: unknown. */
  readonly placeOf: (method: string) => string | undefined;
}

/** @param own the policy that the module created for the stage */
export function originOf<Policy extends object>(
  { path, placeOf }: OwnSpec<Policy>,
  stage: PolicyStage,
  own: Policy,
): PolicyOrigin {
  const methods = own as Readonly<Record<string, unknown>>;
  return { path, stage, placeOf: (method) => placeOf?.(methods[method]) };
}

/** One method of a user's policy, and the check of its answers. */
export interface PolicyQuestion<Input, Answer> {
  readonly method: string;
  readonly ask: (input: Input) => unknown;
  readonly isAnswer: (given: unknown, input: Input) => given is Answer & {};
  /** Ends the sentence "expected ...". */
  readonly expected: (input: Input) => string;
}

/**
 * Calls one method of a user's policy. An answer that is missing, invalid or later than 50 ms of
 * wall time is a fault, and the caller uses a built-in policy instead. A method that does
 * not return too often is not called again.
 */
export class Guarded<Input, Answer> {
  /** Found at the first fault, because the search reads the file. */
  private origin: { readonly place: string | undefined } | undefined;
  private calls = 0;
  /** The numbers of the last calls that did not return. */
  private silent: number[] = [];
  private isSuspended = false;

  constructor(
    private readonly requested: PolicyQuestion<Input, Answer>,
    private readonly from: PolicyOrigin,
    private readonly watch: PolicyWatch,
  ) {
    watch.prepare?.();
  }

  /** Undefined for a fault, which is reported. */
  answer(input: Input): (Answer & {}) | undefined {
    if (this.isSuspended) {
      const often = `${SILENT_CALLS} calls did not return`;
      return this.fault('no_answer', `is not called any more, because ${often}`);
    }
    this.calls += 1;
    const { nowMs, call } = this.watch;
    const startMs = nowMs?.() ?? 0;
    let given: unknown;
    try {
      given =
        call === undefined ? this.requested.ask(input) : call(() => this.requested.ask(input));
    } catch (error) {
      if (error instanceof NoAnswer) return this.silence(error);
      return this.fault('threw', `threw ${named(error)}`, thrownAt(error, this.from.path));
    }
    disarm(given);
    const tookMs = (nowMs?.() ?? 0) - startMs;
    if (!this.requested.isAnswer(given, input)) {
      const expected = this.requested.expected(input);
      return this.fault('wrong_answer', `returned ${shown(given)}; expected ${expected}`);
    }
    if (tookMs <= MAX_ANSWER_MS) return given;
    const took = `took ${Math.round(tookMs)} ms; at most ${MAX_ANSWER_MS} ms are allowed`;
    return this.fault('slow', took);
  }

  private silence({ afterMs, place }: NoAnswer): undefined {
    this.silent = [...this.silent, this.calls].slice(-SILENT_CALLS);
    this.isSuspended =
      this.silent.length === SILENT_CALLS && this.calls - this.silent[0]! < AMONG_CALLS;
    return this.fault('no_answer', `did not return within ${afterMs} ms`, place);
  }

  private fault(kind: PolicyFault['kind'], what: string, at?: string): undefined {
    const { path, stage } = this.from;
    const { method } = this.requested;
    this.origin ??= { place: this.from.placeOf(method) };
    const place = at ?? this.origin.place;
    const where = place === undefined ? '' : ` (${place})`;
    this.watch.onFault({
      path,
      stage,
      kind,
      message: `${path}: ${method} (${stage}) ${what}${where}.`,
    });
  }
}

/** An `async` method returns a promise; without a handler its rejection would end the process. */
function disarm(given: unknown): void {
  if (given instanceof Promise) given.catch(() => undefined);
}

function shown(value: unknown): string {
  if (value instanceof Promise) return 'a promise';
  return value === null || typeof value !== 'object' ? String(value) : 'an object';
}

function named(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : shown(error);
}

/** File, line and column of an error in the user's file. */
function thrownAt(error: unknown, path: string): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const file = path.slice(path.lastIndexOf('/') + 1);
  const line = error.stack?.split('\n').find((each) => each.includes(`/${file}:`));
  const place = line === undefined ? undefined : /:(\d+:\d+)\)?$/.exec(line)?.[1];
  return place === undefined ? undefined : `${file}:${place}`;
}
