import { mix, unitOf } from '@baton/kernel';

export interface JitterSpec {
  /** The step within which the jitter must stay, the interval between two tokens. */
  readonly interTokenLatencyMs: number;
  /** Wanted standard deviation of the intervals between tokens. */
  readonly interTokenLatencyStdDevMs?: number | undefined;
  /** Standard deviation that the first token gets. */
  readonly firstTokenStdDevMs?: number | undefined;
}

/**
 * Deviations from the mean are capped as in llm-d-inference-sim: the deviation at 30 %, a single
 * sample at 70 %.
 */
const STD_DEV_CAP = 0.3;
const SAMPLE_CAP = 0.7;

/**
 * Standard deviation of the difference of two independent half-normal offsets is √(2 − 4/π) of
 * theirs; dividing by it gives intervals the wanted one.
 */
const INTERVAL_SPREAD = Math.sqrt(2 - 4 / Math.PI);

/**
 * The delay of a token after its step. A token cannot appear before the step ends, so offsets are
 * half-normal: never negative, and because they do not accumulate, the mean interval stays exact. A
 * hash of (seed, request, index) is the only source: batching, engine and retries change nothing,
 * and nothing is rounded.
 */
export class TokenJitter {
  private readonly capUs: number;
  private readonly firstUs: number;
  private readonly laterUs: number;

  constructor(spec: JitterSpec) {
    const intervalUs = spec.interTokenLatencyMs * 1000;
    const stdDevUs = (spec.interTokenLatencyStdDevMs ?? 0) * 1000;
    this.capUs = SAMPLE_CAP * intervalUs;
    this.laterUs = Math.min(stdDevUs, STD_DEV_CAP * intervalUs) / INTERVAL_SPREAD;
    this.firstUs = (spec.firstTokenStdDevMs ?? 0) * 1000;
  }

  /** In µs, at least 0 and at most 70 % of the inter-token latency. */
  offsetUs(seed: number, requestHash: number, tokenIndex: number): number {
    const scaleUs = tokenIndex === 0 ? this.firstUs : this.laterUs;
    if (scaleUs === 0) return 0;
    const key = mix(mix(seed, requestHash), tokenIndex);
    return Math.min(this.capUs, scaleUs * halfNormal(key));
  }
}

/** |z| of a standard normal z, by Box and Muller from two hashes of the key. */
function halfNormal(key: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - unitOf(mix(key, 1))));
  return Math.abs(radius * Math.cos(2 * Math.PI * unitOf(mix(key, 2))));
}
