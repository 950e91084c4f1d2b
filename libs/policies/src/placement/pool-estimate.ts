import type { Micros } from '@baton/kernel';
import { fetchTimeUs, type KvPoolTerms } from '@baton/kvcache';
import type { EngineView, PlacementRequest, PoolView } from './policy';
import type { PrefixDirectory } from './prefix-directory';

/**
 * A router's estimate of the KV pool for one request, from its own record of prefixes. It covers
 * the probable content of GPUs, not further content of host memory.
 */
export class PoolEstimate implements PoolView {
  private longest: number | undefined;

  constructor(
    private readonly prefixes: PrefixDirectory,
    private readonly request: PlacementRequest,
    private readonly terms: KvPoolTerms & { readonly blockSize: number },
  ) {}

  get balancingThreshold(): number {
    return this.terms.balancingThreshold;
  }

  longestTokens(): number {
    this.longest ??= this.prefixes.longestTokens(this.request);
    return this.longest;
  }

  fetchUs(_engine: EngineView, tokens: number): Micros {
    return fetchTimeUs(this.terms, Math.ceil(tokens / this.terms.blockSize));
  }
}
