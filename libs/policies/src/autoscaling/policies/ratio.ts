import type { Topology } from '../../placement/topology/topology';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';

export interface RatioSpec<Inner> {
  readonly kind: 'ratio';
  /** P of the ratio P:D. */
  readonly prefill: number;
  readonly decode: number;
  /** Decides the number of decode engines. */
  readonly inner: Inner;
}

/**
 * Keeps P:D constant while one signal scales decode: `prefill = ceil(decode × P / D)`. After
 * HeteroScale (arXiv 2508.19559), which couples both pools at a measured ratio because metrics of
 * prefill are poor signals.
 */
export class RatioKeeper implements ScalePolicy {
  constructor(
    private readonly ratio: Pick<RatioSpec<unknown>, 'prefill' | 'decode'>,
    private readonly inner: ScalePolicy,
  ) {}

  decide(context: ScaleContext): ScaleDecision {
    const { counts } = this.inner.decide(context);
    const prefill = Math.ceil((counts.decode * this.ratio.prefill) / this.ratio.decode - 1e-9);
    const unchanged: Topology = { ...counts, prefill };
    return { counts: unchanged };
  }
}
