import { secondsToUs } from '@baton/kernel';
import { type EngineRole, parseEngines, TopologyError } from '../../placement/topology/topology';
import { AutoscalerError } from '../driver/bounds';
import { type Behaviour, DEFAULT_BEHAVIOUR, type ScalingPolicy } from '../hpa/behaviour';
import type { HpaMetric, HpaSpec } from '../hpa/hpa';
import { METRIC_FACTS, SCALE_METRICS } from '../metrics';
import { PREDICTORS } from '../policies/load-predictor';
import type { RatioSpec } from '../policies/ratio';
import { DEFAULT_SATURATION, type SaturationSpec } from '../policies/saturation';
import { DAY_US, type ScheduleEntry, type ScheduleSpec } from '../policies/schedule';
import { DEFAULT_TOKEN_CAPACITY, type TokenCapacitySpec } from '../policies/token-capacity';
import { ROLES } from '../sample';
import type { AutoscalerSpec, Objectives } from './spec';
import { secondsIn, WrittenOptions } from './written-options';

/** Tolerance of the kube-controller-manager: --horizontal-pod-autoscaler-tolerance. */
const HPA_TOLERANCE = 0.1;
const NAMES = 'hpa, keda, ratio, schedule, sla, sla-load, wva, wva-tokens, switch, oracle, random';
/** Minimum interval in s, as for scale_interval. */
const SHORTEST_INTERVAL = 0.1;
const DEFAULT_TTFT_SECONDS = METRIC_FACTS.ttft.target;
const DEFAULT_ITL_SECONDS = METRIC_FACTS.itl.target;

/**
 * Reads `hpa:ttft=2s`, `hpa:ttft@prefill+kv=0.7@decode:down-window=60s`, `keda:5`,
 * `ratio:1P3D:kv=0.7`, `schedule:0h=1P1D+8h=4P8D`, `sla`, `sla-load`, `wva`, `wva-tokens`, `switch`
 * or `oracle`.
 *
 * @throws AutoscalerError
 */
export function parseAutoscaler(text: string, objectives: Objectives = {}): AutoscalerSpec {
  const [name = '', ...written] = text.trim().split(':');
  const parts = written.filter((part) => !isInterval(part));
  const options = (from: number): WrittenOptions => new WrittenOptions(name, parts.slice(from));
  switch (name) {
    case 'hpa':
      return hpa(parts[0] ?? '', options(1), objectives);
    case 'keda':
      return hpa(`waiting=${parts[0] ?? METRIC_FACTS.waiting.target}`, options(1), objectives);
    case 'ratio':
      return ratio(parts, options(2), objectives);
    case 'schedule':
      return schedule(parts[0] ?? '', options(1));
    case 'wva':
      return saturation(options(0));
    case 'wva-tokens':
      return tokenCapacity(options(0));
    case 'sla':
      return sla(options(0), objectives);
    case 'sla-load':
      return slaLoad(options(0), objectives);
    case 'switch':
      return roleSwitch(options(0), objectives);
    case 'oracle':
      return oracle(options(0));
    case 'random':
      options(0).endOptions();
      return { kind: name };
    default:
      throw new AutoscalerError(`There is no autoscaler "${name}". Use one of ${NAMES}.`);
  }
}

/**
 * The decision interval in the notation of an autoscaler, `wva:interval=60s`, seconds. Undefined
 * for that of the cluster.
 *
 * @throws AutoscalerError
 */
export function writtenInterval(text: string): number | undefined {
  const [name = '', ...parts] = text.trim().split(':');
  const written = parts.filter(isInterval);
  if (written.length === 0) return undefined;
  const seconds = new WrittenOptions(name, written).seconds('interval', 0);
  if (seconds >= SHORTEST_INTERVAL) return seconds;
  throw new AutoscalerError(`${name}: interval must be at least ${SHORTEST_INTERVAL} s.`);
}

function isInterval(part: string): boolean {
  return part.startsWith('interval=');
}

function hpa(metrics: string, options: WrittenOptions, objectives: Objectives): HpaSpec {
  const spec: HpaSpec = {
    kind: 'hpa',
    metrics: metrics.split('+').map((each) => hpaMetric(each, objectives)),
    tolerance: options.number('tolerance', HPA_TOLERANCE, [0, 1]),
    behaviour: behaviour(options),
  };
  options.endOptions();
  return spec;
}

function hpaMetric(text: string, objectives: Objectives): HpaMetric {
  const [, name = '', target, role] = /^([a-z0-9]+)(?:=([^@]+))?(?:@(\w+))?$/.exec(text) ?? [];
  const metric = SCALE_METRICS.find((each) => each === name);
  if (metric === undefined) {
    throw new AutoscalerError(
      `There is no metric "${text}" to scale by. Use one of ${SCALE_METRICS.join(', ')}, ` +
        'for example hpa:ttft=2s or hpa:kv=0.7@decode.',
    );
  }
  const value = target === undefined ? targetOf(metric, objectives) : secondsIn(target);
  if (value === undefined || value <= 0) {
    const example = metric === 'rps' || metric === 'running' ? `${metric}=20` : `${metric}=2s`;
    throw new AutoscalerError(`${metric} needs a target above 0, for example ${example}.`);
  }
  return { metric, target: value, ...(role === undefined ? {} : { role: roleNamed(role) }) };
}

function targetOf(metric: HpaMetric['metric'], objectives: Objectives): number {
  const { ttftSeconds, itlSeconds } = objectives;
  if (metric === 'ttft' && ttftSeconds !== undefined) return ttftSeconds;
  if (metric === 'itl' && itlSeconds !== undefined) return itlSeconds;
  return METRIC_FACTS[metric].target;
}

function roleNamed(name: string): EngineRole {
  const role = ROLES.find((each) => each === name);
  if (role !== undefined) return role;
  throw new AutoscalerError(`There is no role "${name}". Use one of ${ROLES.join(', ')}.`);
}

function behaviour(options: WrittenOptions): Behaviour {
  const { up, down } = DEFAULT_BEHAVIOUR;
  const policies = (name: 'up' | 'down', fallback: readonly ScalingPolicy[]): ScalingPolicy[] => {
    const written = (['pods', 'percent'] as const).flatMap((kind) => {
      const rate = options.rate(`${name}-${kind}`);
      return rate === undefined ? [] : [{ kind, ...rate }];
    });
    return written.length === 0 ? [...fallback] : written;
  };
  return {
    up: {
      windowSeconds: options.seconds('up-window', up.windowSeconds),
      policies: policies('up', up.policies),
    },
    down: {
      windowSeconds: options.seconds('down-window', down.windowSeconds),
      policies: policies('down', down.policies),
    },
  };
}

function ratio(
  [written = '', metric = 'waiting']: readonly string[],
  options: WrittenOptions,
  objectives: Objectives,
): RatioSpec<HpaSpec> {
  const { prefill, decode } = engines('ratio', written);
  if (prefill === 0 || decode === 0) {
    throw new AutoscalerError('ratio needs both pools, for example ratio:1P3D:kv=0.7.');
  }
  return { kind: 'ratio', prefill, decode, inner: hpa(metric, options, objectives) };
}

function schedule(written: string, options: WrittenOptions): ScheduleSpec {
  const periodUs = secondsToUs(options.seconds('period', DAY_US / secondsToUs(1)));
  options.endOptions();
  const entries = written.split('+').map(scheduleEntry);
  entries.sort((a, b) => a.atUs - b.atUs);
  if (periodUs > 0 && entries.every(({ atUs }) => atUs < periodUs)) {
    return { kind: 'schedule', entries, periodUs };
  }
  throw new AutoscalerError('schedule: each time must be before the end of the period.');
}

function scheduleEntry(text: string): ScheduleEntry {
  const [time = '', counts = ''] = text.split('=');
  const seconds = secondsIn(time);
  if (seconds === undefined || counts === '') {
    throw new AutoscalerError(`schedule: "${text}" must be written as schedule:0h=1P1D+8h=4P8D.`);
  }
  return { atUs: secondsToUs(seconds), counts: engines('schedule', counts) };
}

function engines(name: string, text: string): ScheduleEntry['counts'] {
  try {
    return parseEngines(text);
  } catch (error) {
    if (!(error instanceof TopologyError)) throw error;
    throw new AutoscalerError(`${name}: ${error.message}`);
  }
}

function saturation(options: WrittenOptions): SaturationSpec {
  const { kvCacheThreshold, queueLengthThreshold } = DEFAULT_SATURATION;
  const spec: SaturationSpec = {
    kind: 'wva',
    kvCacheThreshold: options.number('kv', kvCacheThreshold, [0, 1]),
    queueLengthThreshold: options.number('queue', queueLengthThreshold, [0, 1e6]),
    kvSpareTrigger: options.number('kv-spare', DEFAULT_SATURATION.kvSpareTrigger, [0, 1]),
    queueSpareTrigger: options.number(
      'queue-spare',
      DEFAULT_SATURATION.queueSpareTrigger,
      [0, 1e6],
    ),
  };
  options.endOptions();
  return spec;
}

/** The part of a capacity that a threshold may be, for options that divide by it. */
const PART: readonly [number, number] = [0.01, 1];

function tokenCapacity(options: WrittenOptions): TokenCapacitySpec {
  const defaults = DEFAULT_TOKEN_CAPACITY;
  const spec: TokenCapacitySpec = {
    kind: 'wva-tokens',
    kvCacheThreshold: options.number('kv', defaults.kvCacheThreshold, PART),
    queueLengthThreshold: options.number('queue', defaults.queueLengthThreshold, [0, 1e6]),
    scaleUpThreshold: options.number('up', defaults.scaleUpThreshold, PART),
    scaleDownBoundary: options.number('down', defaults.scaleDownBoundary, PART),
  };
  options.endOptions();
  if (spec.scaleDownBoundary < spec.scaleUpThreshold) return spec;
  throw new AutoscalerError('wva-tokens: down must be below up.');
}

/** Default: a calm stage uses at most half of its objective. */
const CALM = 0.5;

/** By default the oracle allows no late requests. */
const LATE = 0;

function oracle(options: WrittenOptions): AutoscalerSpec {
  const late = options.number('late', LATE, [0, 1]);
  options.endOptions();
  return { kind: 'oracle', late };
}

function sla(options: WrittenOptions, given: Objectives): AutoscalerSpec {
  const objectives = objectivesIn('sla', options, given);
  const predictor = options.choice('predictor', PREDICTORS);
  options.endOptions();
  return { kind: 'sla', ...objectives, predictor };
}

/** Dynamo's default of load_scaling_down_sensitivity. */
const DOWN_SENSITIVITY = 80;

function slaLoad(options: WrittenOptions, given: Objectives): AutoscalerSpec {
  const objectives = objectivesIn('sla-load', options, given);
  const sensitivity = options.number('sensitivity', DOWN_SENSITIVITY, [0, 100]);
  const throughputSeconds = options.seconds('throughput', 0);
  options.endOptions();
  return { kind: 'sla-load', ...objectives, sensitivity, throughputSeconds };
}

function roleSwitch(options: WrittenOptions, given: Objectives): AutoscalerSpec {
  const objectives = objectivesIn('switch', options, given);
  const calm = options.number('calm', CALM, [0, 1]);
  options.endOptions();
  return { kind: 'switch', ...objectives, calm };
}

function objectivesIn(
  kind: 'sla' | 'sla-load' | 'switch',
  options: WrittenOptions,
  given: Objectives,
): { readonly ttftSeconds: number; readonly itlSeconds: number } {
  const objectives = {
    ttftSeconds: options.seconds('ttft', given.ttftSeconds ?? DEFAULT_TTFT_SECONDS),
    itlSeconds: options.seconds('itl', given.itlSeconds ?? DEFAULT_ITL_SECONDS),
  };
  if (objectives.ttftSeconds > 0 && objectives.itlSeconds > 0) return objectives;
  throw new AutoscalerError(`${kind}: ttft and itl must be above 0.`);
}
