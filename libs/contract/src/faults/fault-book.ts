import type { Fault, FaultAction } from '../fault';
import { RandomStream, secondsToUs } from '@baton/kernel';
import { type FailureType, FAILURE_TYPES, llmDFailure, returnedError } from './llm-d-failures';
import type { FaultRule } from './rule';

/** All settings of injected faults. */
export interface FaultSettings {
  readonly rules: readonly FaultRule[];
  /** Percent of requests, 0 to 100, with an injected failure as in llm-d's simulator. */
  readonly failureInjectionRate: number;
  /** Empty: all types. */
  readonly failureTypes: readonly FailureType[];
  /** Time at which the rules were set: their windows begin there. Wall µs since the Unix epoch. */
  readonly sinceUs: number;
}

export interface FaultSubject {
  readonly model: string;
  /** The value of a request header. Case of the name is ignored. */
  readonly header: (name: string) => string | undefined;
  /** Wall µs since the Unix epoch. */
  readonly nowUs: number;
}

export interface FaultBookOptions {
  readonly seed: number;
  /** Simulated seconds per wall second. The windows are in simulated time. */
  readonly speedup: number;
}

/** An active rule: the number of matching requests, and its random stream. */
interface ActiveRule {
  readonly rule: FaultRule;
  readonly text: string;
  readonly action: FaultAction;
  readonly header: { readonly name: string; readonly value: string | undefined } | undefined;
  readonly draws: RandomStream;
  matches: number;
  hit: number;
}

/** The header with which a client requests an error. */
export const RETURN_ERROR_HEADER = 'x-return-error';

/** A failure of llm-d's kind. It comes before any rule. */
const AT_ONCE = { rule: 'failure-injection', stage: 'queue' } as const;

/**
 * Determines the faults of requests by the rules of one process. It counts requests, and draws from
 * streams named after the rules, so the same requests in the same order get the same faults. It
 * reads no clock and has no side effects. A rule that a change of settings does not affect
 * continues counting.
 */
export class FaultBook {
  private active: ActiveRule[] = [];
  private settings: FaultSettings = {
    rules: [],
    failureInjectionRate: 0,
    failureTypes: [],
    sinceUs: 0,
  };
  private readonly root: RandomStream;
  private readonly failures: RandomStream;

  constructor(private readonly options: FaultBookOptions) {
    this.root = RandomStream.root(options.seed).stream('faults');
    this.failures = this.root.stream('failure-injection');
  }

  replace(settings: FaultSettings): void {
    const former = new Map(this.active.map((each) => [each.text, each]));
    this.active = settings.rules.map((rule) => {
      const text = JSON.stringify(rule);
      return former.get(text) ?? this.activate(rule, text);
    });
    this.settings = settings;
  }

  /**
   * The faults of this request, in the order of the rules. Throws `BatonError` for an invalid
   * header.
   */
  judge(subject: FaultSubject): readonly Fault[] {
    const requested = subject.header(RETURN_ERROR_HEADER);
    if (requested !== undefined)
      return [{ ...AT_ONCE, rule: RETURN_ERROR_HEADER, action: returnedError(requested) }];
    const failure = this.drawFailure(subject.model);
    if (failure !== undefined) return [{ ...AT_ONCE, action: failure }];
    if (this.active.length === 0) return NONE;
    return this.active.flatMap((each) => this.meet(each, subject) ?? []);
  }

  private drawFailure(model: string): FaultAction | undefined {
    const { failureInjectionRate, failureTypes } = this.settings;
    if (failureInjectionRate === 0 || this.failures.unit() * 100 >= failureInjectionRate) return;
    const types = failureTypes.length === 0 ? FAILURE_TYPES : failureTypes;
    const type = types[this.failures.integer(types.length)] as FailureType;
    return llmDFailure(type, model);
  }

  private meet(active: ActiveRule, subject: FaultSubject): Fault | undefined {
    const { rule, action } = active;
    if (!isMeant(active, subject)) return undefined;
    const window = this.windowOf(rule);
    if (window !== undefined && !isOpen(window, rule, subject.nowUs)) return undefined;
    active.matches += 1;
    if (active.matches % (rule.every ?? 1) !== 0) return undefined;
    if (rule.rate !== undefined && active.draws.unit() >= rule.rate) return undefined;
    if (active.hit >= (rule.limit ?? Infinity)) return undefined;
    active.hit += 1;
    const fault = { rule: rule.name, stage: rule.at, action };
    return window === undefined ? fault : { ...fault, window };
  }

  private windowOf(rule: FaultRule): readonly [number, number] | undefined {
    if (rule.after === undefined && rule.for === undefined) return undefined;
    const wallUs = (seconds: number): number => secondsToUs(seconds / this.options.speedup);
    const fromUs = this.settings.sinceUs + wallUs(rule.after ?? 0);
    const untilUs = rule.for === undefined ? Number.MAX_SAFE_INTEGER : fromUs + wallUs(rule.for);
    return [fromUs, untilUs];
  }

  private activate(rule: FaultRule, text: string): ActiveRule {
    const draws = this.root.stream(rule.name);
    return {
      rule,
      text,
      action: actionOf(rule),
      header: headerOf(rule),
      draws,
      matches: 0,
      hit: 0,
    };
  }
}

const NONE: readonly Fault[] = [];

/** Whether a stage that is reached at this time lies in the fault's window. */
export function isDue({ window }: Fault, nowUs: number): boolean {
  return window === undefined || (nowUs >= window[0] && nowUs < window[1]);
}

/**
 * Whether the request can still reach the rule's stage in the window. For a later stage, a window
 * that has not begun counts.
 */
function isOpen(window: readonly [number, number], { at }: FaultRule, nowUs: number): boolean {
  return nowUs < window[1] && (at !== 'queue' || nowUs >= window[0]);
}

function isMeant({ rule, header }: ActiveRule, subject: FaultSubject): boolean {
  if (rule.model !== undefined && rule.model !== subject.model) return false;
  if (header === undefined) return true;
  const given = subject.header(header.name);
  return given !== undefined && (header.value === undefined || header.value === given.trim());
}

function headerOf({ header }: FaultRule): ActiveRule['header'] {
  if (header === undefined) return undefined;
  const colon = header.indexOf(':');
  if (colon < 0) return { name: header.trim().toLowerCase(), value: undefined };
  const name = header.slice(0, colon).trim().toLowerCase();
  return { name, value: header.slice(colon + 1).trim() };
}

/** Status of an error rule that sets none. */
const STANDARD_STATUS = 500;

function actionOf(rule: FaultRule): FaultAction {
  const { fault: kind, afterTokens = 0, delay = 0, factor = 1 } = rule;
  switch (kind) {
    case 'error': {
      const { status = STANDARD_STATUS, message, retryAfter } = rule;
      return {
        kind,
        status,
        afterTokens,
        ...(message === undefined ? {} : { message }),
        ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }),
      };
    }
    case 'delay':
      return { kind, delayUs: secondsToUs(delay) };
    case 'stall':
      return { kind, delayUs: secondsToUs(delay), afterTokens };
    case 'slow-link':
      return { kind, factor };
    case 'expire-lease':
      return { kind };
    case 'cut':
    case 'malformed-frame':
    case 'crash-engine':
    case 'kill-process':
      return { kind, afterTokens };
  }
}
