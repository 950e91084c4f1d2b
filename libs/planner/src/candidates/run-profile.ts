import {
  type EngineRoleName,
  NEVER,
  type Objective,
  OBJECTIVES,
  outcomeCode,
  phasesOf,
  readPhases,
  REQUEST_PHASES,
  type RequestLog,
  type RequestPhase,
  type RunRecord,
  type Slo,
  sloTest,
  tokensPerStep,
  tpotOf,
} from '@baton/analysis';
import { mean, quantile, usToMs } from '@baton/kernel';
import type { EnginePool } from '@baton/simulation';

/**
 * What requests lose their time to. `front_end`: the servers in front of the engines. `queue`: the
 * wait for the first step. `prefill`: a prompt takes too long even on an idle engine. `budget`:
 * steps full of prompt tokens, or a full batch. `kv`: no blocks, or preemptions. `transfer`: KV on
 * the link. `decode`: decode steps that take too long by themselves.
 */
export const CAUSES = [
  'front_end',
  'queue',
  'prefill',
  'budget',
  'kv',
  'transfer',
  'decode',
] as const;
export type Cause = (typeof CAUSES)[number];

export interface PhaseProfile {
  readonly phase: RequestPhase;
  readonly meanMs: number;
  readonly p90Ms: number;
}

/** How busy and how full the engines of a role are. Shares are 0..1. */
export interface RoleProfile {
  readonly role: EngineRoleName;
  readonly engines: number;
  /** Share of the time in steps, and in steps that compute prompts. */
  readonly inSteps: number;
  readonly inPromptSteps: number;
  readonly running: number;
  readonly maxNumSeqs: number;
  /** Share of the time in which a batch has `maxNumSeqs`. */
  readonly batchFull: number;
  readonly waiting: number;
  readonly kvMean: number;
  readonly kvMost: number;
  /** Share of the time in which the KV cache is full. */
  readonly kvFull: number;
  readonly tokensPerStep: number;
  readonly maxNumBatchedTokens: number;
  readonly preemptions: number;
}

/** A run in figures that tell why requests miss their objectives; plain data. */
export interface RunProfile {
  readonly requests: number;
  /** Requests that miss an objective, and each one of them. */
  readonly missed: number;
  readonly missedBy: Readonly<Partial<Record<Objective, number>>>;
  readonly phases: readonly PhaseProfile[];
  /** The phases of the same requests when the cluster is almost idle. */
  readonly idlePhases: readonly PhaseProfile[];
  readonly roles: readonly RoleProfile[];
  /** Shares of what the missing requests lose, 0..1; 0 for all when none is missing. */
  readonly causes: Readonly<Record<Cause, number>>;
}

/** From this share of its blocks on, a KV cache counts as full. */
const FULL = 0.95;
/** An engine that is full for this share of the time is what its requests wait for. */
const MOSTLY = 0.5;

/** @param idle  the same requests at a rate at which they hardly meet */
export function runProfile(
  { run, idle }: { readonly run: RunRecord; readonly idle: RunRecord },
  pools: readonly EnginePool[],
  slo: Slo,
): RunProfile {
  const { log } = run;
  const roles = pools.map((pool) => roleProfile(run, pool));
  const isGood = sloTest(log, slo);
  const rows = Array.from({ length: log.count }, (_none, row) => row);
  const missing = rows.filter((row) => !isGood(row));
  const bounded = OBJECTIVES.filter((name) => slo[name] !== undefined);
  const missedBy = bounded.map((name) => {
    const meets = sloTest(log, { [name]: slo[name] });
    return [name, rows.filter((row) => !meets(row)).length] as const;
  });
  return {
    requests: log.count,
    missed: missing.length,
    missedBy: Object.fromEntries(missedBy),
    phases: phaseProfiles(log),
    idlePhases: phaseProfiles(idle.log),
    roles,
    causes: causesOf(missing, { log, idle: idle.log, slo, roles }),
  };
}

function phaseProfiles(log: RequestLog): PhaseProfile[] {
  const spans = new Float64Array(REQUEST_PHASES.length);
  const lengths = REQUEST_PHASES.map((): number[] => []);
  const completed = outcomeCode('completed');
  for (let row = 0; row < log.count; row++) {
    if (log.outcome[row] !== completed) continue;
    readPhases(log, row, spans);
    spans.forEach((us, at) => us !== NEVER && lengths[at]!.push(usToMs(us)));
  }
  return phasesOf(log).flatMap((phase) => {
    const own = Float64Array.from(lengths[REQUEST_PHASES.indexOf(phase)]!).sort();
    return own.length === 0 ? [] : [{ phase, meanMs: mean(own), p90Ms: quantile(own, 0.9) }];
  });
}

function roleProfile({ engines, series }: RunRecord, { role, options }: EnginePool): RoleProfile {
  const { maxNumSeqs, maxNumBatchedTokens } = options;
  const own = engines.flatMap((engine, at) => (engine.role === role ? [{ engine, at }] : []));
  const total = (read: (engine: (typeof engines)[number]) => number): number => {
    return own.reduce((sum, { engine }) => sum + read(engine), 0);
  };
  const gauge = (values: Float32Array): number[] => {
    return own.flatMap(({ at }) => [
      ...values.subarray(at * series.samples, (at + 1) * series.samples),
    ]);
  };
  const shareOf = (values: readonly number[], isMeant: (value: number) => boolean): number => {
    return values.length === 0 ? 0 : values.filter(isMeant).length / values.length;
  };
  const running = gauge(series.running);
  const kv = gauge(series.kvUsage);
  const upUs = total((engine) => engine.upUs);
  return {
    role,
    engines: own.length,
    inSteps: total(({ busyUs }) => busyUs) / upUs,
    inPromptSteps: total(({ prefillBusyUs }) => prefillBusyUs) / upUs,
    running: mean(own.map(({ engine }) => engine.runningMean)),
    maxNumSeqs,
    batchFull: shareOf(running, (seqs) => seqs >= maxNumSeqs),
    waiting: own.length === 0 ? 0 : mean(gauge(series.waiting)),
    kvMean: mean(own.map(({ engine }) => engine.kvUsageMean)),
    kvMost: Math.max(...own.map(({ engine }) => engine.kvUsageMax)),
    kvFull: shareOf(kv, (usage) => usage >= FULL),
    tokensPerStep: tokensPerStep(own.map(({ engine }) => engine)) || 0,
    maxNumBatchedTokens,
    preemptions: total(({ preemptions }) => preemptions),
  };
}

interface CauseInputs {
  readonly log: RequestLog;
  readonly idle: RequestLog;
  readonly slo: Slo;
  readonly roles: readonly RoleProfile[];
}

type Losses = Record<Cause, number>;

/** The mean of what each missing request loses to each cause, all of it being 1 per request. */
function causesOf(missing: readonly number[], inputs: CauseInputs): Losses {
  const sums = noLosses();
  let counted = 0;
  for (const row of missing) {
    const lost = lossesOf(row, inputs);
    const whole = CAUSES.reduce((sum, cause) => sum + lost[cause], 0);
    if (whole <= 0) continue;
    counted++;
    for (const cause of CAUSES) sums[cause] += lost[cause] / whole;
  }
  for (const cause of CAUSES) sums[cause] /= Math.max(1, counted);
  return sums;
}

function noLosses(): Losses {
  return Object.fromEntries(CAUSES.map((cause) => [cause, 0])) as Losses;
}

/**
 * The time in µs that a request loses, by cause: what it takes longer than on the idle cluster and,
 * where it is too slow even there, its prompt or its decode steps as a whole. The transfer counts
 * as a whole, because another design may have none.
 */
function lossesOf(row: number, { log, idle, slo, roles }: CauseInputs): Losses {
  const losses = noLosses();
  const [loaded, alone] = [phaseSpans(log, row), phaseSpans(idle, row)];
  const more = (phase: RequestPhase): number => Math.max(0, loaded[phase] - alone[phase]);
  const { tpot = Infinity, itl = Infinity } = slo;
  const gapUs = Math.min(tpot, itl);
  const isSlow = (one: RequestLog, bounds: Slo): boolean => !sloTest(one, bounds)(row);
  const toFirst = pickSlo(slo, ['ttft', 'e2el']);
  if (isSlow(log, toFirst)) {
    losses.front_end += more('front_end') + more('dispatch');
    losses[waitCause(roles, 'prefill', 'queue')] += more('queue');
    losses.budget += more('prefill');
    losses[waitCause(roles, 'decode', 'kv')] += more('hold');
    losses.transfer += loaded.transfer;
    losses[waitCause(roles, 'decode', 'decode')] += more('decode_wait');
    if (isSlow(idle, toFirst)) losses.prefill += alone.prefill;
  }
  if (isSlow(log, pickSlo(slo, ['tpot', 'itl', 'e2el']))) {
    const isSlowAlone = tpotOf(idle, row) > gapUs;
    const lost = isSlowAlone ? loaded.decode : more('decode');
    const decoding = roles.find(({ role }) => role !== 'prefill')!;
    const inPrompts = decoding.inSteps === 0 ? 0 : decoding.inPromptSteps / decoding.inSteps;
    if (log.preemptions[row]! > 0) losses.kv += lost;
    else if (isSlowAlone) losses.decode += lost;
    else {
      losses.budget += lost * inPrompts;
      losses.decode += lost * (1 - inPrompts);
    }
  }
  return losses;
}

function pickSlo(slo: Slo, names: readonly Objective[]): Slo {
  return Object.fromEntries(
    Object.entries(slo).filter(([name]) => names.includes(name as Objective)),
  );
}

/** A wait for engines of a role is for what they are full of most of the time. */
function waitCause(
  roles: readonly RoleProfile[],
  stage: 'prefill' | 'decode',
  otherwise: Cause,
): Cause {
  const own = roles.find(({ role }) => role === stage || role === 'aggregated')!;
  if (own.batchFull >= MOSTLY) return 'budget';
  // A long prompt finds no room in a cache that is not quite full, and the engine stands still.
  const isStarved = own.inSteps < MOSTLY && own.kvMean >= MOSTLY;
  return own.kvFull >= MOSTLY || isStarved ? 'kv' : otherwise;
}

/** The phases of a request in µs, 0 for those that it did not have. */
function phaseSpans(log: RequestLog, row: number): Record<RequestPhase, number> {
  const spans = new Float64Array(REQUEST_PHASES.length);
  readPhases(log, row, spans);
  const lengths = REQUEST_PHASES.map((phase, at) => [phase, spans[at] === NEVER ? 0 : spans[at]]);
  return Object.fromEntries(lengths) as Record<RequestPhase, number>;
}
