import { assert, type RandomStream, unreachable } from '@baton/kernel';
import { LeastRequests, LeastTokens } from './least-loaded';
import type { Policy } from './policy';
import { PrefixAware, type PrefixAwareSpec } from './prefix-aware';
import { PowerOfTwo, RandomDraw } from './random-draw';
import { RoundRobin } from './round-robin';
import { SessionSticky, type SessionStickySpec } from './session-sticky';

/** The placement policy of a stage. `pull` is not one of these: with it the engines choose. */
export type PolicySpec =
  | { readonly kind: 'round-robin' }
  | { readonly kind: 'random' }
  | { readonly kind: 'least-requests' }
  | { readonly kind: 'least-tokens' }
  | { readonly kind: 'power-of-two' }
  | PrefixAwareSpec
  | SessionStickySpec;

export const POLICY_KINDS = [
  'round-robin',
  'random',
  'least-requests',
  'least-tokens',
  'power-of-two',
  'prefix-aware',
  'session-sticky',
] as const satisfies readonly PolicySpec['kind'][];

/** The parameters of `prefix-aware` and `session-sticky`; see their specs. */
export interface PolicyTuning {
  readonly prefixBalanceThreshold: number;
  readonly prefixOverlapWeight: number;
  readonly stickyVirtualNodes: number;
  readonly stickyLoadFactor: number;
}

export function policySpecOf(kind: PolicySpec['kind'], tuning: PolicyTuning): PolicySpec {
  switch (kind) {
    case 'prefix-aware': {
      const { prefixBalanceThreshold, prefixOverlapWeight } = tuning;
      return { kind, balanceThreshold: prefixBalanceThreshold, overlapWeight: prefixOverlapWeight };
    }
    case 'session-sticky': {
      const { stickyVirtualNodes: virtualNodes, stickyLoadFactor: loadFactor } = tuning;
      return { kind, virtualNodes, loadFactor };
    }
    default:
      return { kind };
  }
}

/**
 * A policy for one stage of one router. Policies have state (turns, draws), so stages and routers
 * share none.
 *
 * @param random used only by `random` and `power-of-two`
 */
export function buildPolicy(spec: PolicySpec, random: RandomStream): Policy {
  switch (spec.kind) {
    case 'round-robin':
      return new RoundRobin();
    case 'random':
      return new RandomDraw(random);
    case 'least-requests':
      return new LeastRequests();
    case 'least-tokens':
      return new LeastTokens();
    case 'power-of-two':
      return new PowerOfTwo(random);
    case 'prefix-aware':
      assert((spec.balanceThreshold ?? 1) >= 1, 'balanceThreshold must be at least 1');
      assert((spec.overlapWeight ?? 0) >= 0, 'overlapWeight must not be negative');
      return new PrefixAware(spec);
    case 'session-sticky':
      assert((spec.virtualNodes ?? 1) >= 1, 'virtualNodes must be at least 1');
      assert((spec.loadFactor ?? 2) > 1, 'loadFactor must be above 1');
      return new SessionSticky(spec);
    default:
      return unreachable(spec);
  }
}
