import { FAULT_STAGES, type FaultKind, type FaultStage } from '../fault';

/**
 * One rule in the users' notation. Times are in simulated seconds, `retryAfter` in real ones. A
 * rule without conditions always applies.
 */
export interface FaultRule {
  /** Unique. Default: `fault-1` and so on. */
  readonly name: string;
  readonly at: FaultStage;
  readonly fault: FaultKind;
  /** Share of the requests, in (0, 1]. */
  readonly rate?: number;
  /** The rule applies to every n-th request only. */
  readonly every?: number;
  /** Start of the window in which the stage must be reached, since the rules were set. */
  readonly after?: number;
  readonly for?: number;
  /** `X-Name`: the header must be present. `X-Name: value`: it must have this value. */
  readonly header?: string;
  readonly model?: string;
  /** Most requests that are hit, per API process. */
  readonly limit?: number;
  readonly status?: number;
  readonly message?: string;
  readonly retryAfter?: number;
  readonly delay?: number;
  readonly afterTokens?: number;
  readonly factor?: number;
}

/** The notation and the allowed values of a field. */
export type FieldForm =
  | { readonly kind: 'text'; readonly pattern?: RegExp; readonly like: string }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  /** Both bounds are included. */
  | { readonly kind: 'number'; readonly min: number; readonly max: number }
  | { readonly kind: 'seconds'; readonly min: number; readonly max: number };

export type FieldName = Exclude<keyof FaultRule, 'at' | 'fault'>;

const DAY_SECONDS = 86_400;
const MILLION = 1_000_000;
/** The smallest rate and factor: one in a million. */
const LEAST_SHARE = 1e-6;

/** All fields except `at` and `fault`, by their names in code. */
export const FIELDS: Readonly<Record<FieldName, FieldForm>> = {
  name: { kind: 'text', pattern: /^[\w.-]{1,64}$/, like: 'busy-queue' },
  rate: { kind: 'number', min: LEAST_SHARE, max: 1 },
  every: { kind: 'integer', min: 1, max: MILLION },
  after: { kind: 'seconds', min: 0, max: DAY_SECONDS },
  for: { kind: 'seconds', min: 0.001, max: DAY_SECONDS },
  header: {
    kind: 'text',
    pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}(\s*:\s*[\x20-\x7e]{1,256})?$/,
    like: 'X-Fault: busy',
  },
  model: { kind: 'text', like: 'llama-3.1-8b' },
  limit: { kind: 'integer', min: 1, max: MILLION },
  status: { kind: 'integer', min: 400, max: 599 },
  message: { kind: 'text', like: 'Try again later.' },
  retryAfter: { kind: 'seconds', min: 1, max: DAY_SECONDS },
  delay: { kind: 'seconds', min: 0.001, max: 3_600 },
  afterTokens: { kind: 'integer', min: 0, max: MILLION },
  factor: { kind: 'number', min: LEAST_SHARE, max: 1 },
};

/** The conditions; every rule can have them. */
const CONDITIONS: readonly FieldName[] = [
  'name',
  'rate',
  'every',
  'after',
  'for',
  'header',
  'model',
  'limit',
];

interface KindFacts {
  readonly stages: readonly FaultStage[];
  /** The parameters of the kind. A stage without tokens of its own has no `after_tokens`. */
  readonly needs: readonly FieldName[];
  readonly takes: readonly FieldName[];
}

const ENGINE_STAGES: readonly FaultStage[] = ['prefill', 'decode'];

/** The stages and the fields of each kind of fault. */
export const KINDS: Readonly<Record<FaultKind, KindFacts>> = {
  error: {
    stages: FAULT_STAGES,
    needs: [],
    takes: ['status', 'message', 'retryAfter', 'afterTokens'],
  },
  delay: { stages: FAULT_STAGES, needs: ['delay'], takes: [] },
  stall: { stages: ['stream'], needs: ['delay'], takes: ['afterTokens'] },
  cut: { stages: ['queue', 'stream'], needs: [], takes: ['afterTokens'] },
  'malformed-frame': { stages: ['stream'], needs: [], takes: ['afterTokens'] },
  'slow-link': { stages: ['transfer'], needs: ['factor'], takes: [] },
  'expire-lease': { stages: ['transfer'], needs: [], takes: [] },
  'crash-engine': { stages: ENGINE_STAGES, needs: [], takes: ['afterTokens'] },
  'kill-process': { stages: ENGINE_STAGES, needs: [], takes: ['afterTokens'] },
};

/** Stages at which a sequence has tokens to count. */
const WITH_TOKENS: readonly FaultStage[] = ['decode', 'stream'];

/** The fields that a rule of this kind at this stage may have, without `at` and `fault`. */
export function fieldNamesOf(kind: FaultKind, stage: FaultStage): readonly FieldName[] {
  const { needs, takes } = KINDS[kind];
  const own = [...needs, ...takes].filter(
    (field) => field !== 'afterTokens' || WITH_TOKENS.includes(stage),
  );
  return [...CONDITIONS, ...own];
}
