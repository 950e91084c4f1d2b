import { assert, clearDeadline, type Deadline, DeadlineList, type Micros } from '@baton/kernel';

/**
 * The times of vLLM's NIXL lease (vllm/distributed/kv_transfer/kv_connector/v1/nixl,
 * docs/design/nixl_kv_cache_lease.md), in simulated µs. They scale with the speed of the simulated
 * clock because they are counted on it.
 */
export interface LeaseTimes {
  /** L: time that held blocks wait for the first heartbeat or read. */
  readonly leaseUs: Micros;
  /** L/6: a reader's pause between two heartbeats. */
  readonly heartbeatEveryUs: Micros;
  /** L·2/3: each heartbeat extends the lease to at least this long from now. */
  readonly renewalUs: Micros;
  /** Time for which decode keeps blocks for the next turn of a conversation. */
  readonly keepUs: Micros;
  /** Replaces L, also for reads, when the cluster itself routes the reader. At least L. */
  readonly routedUs: Micros;
}

/** vLLM's `kv_lease_duration`: 30 s. */
export const DEFAULT_KV_LEASE_US: Micros = 30_000_000;

/** vLLM's `decoder_kv_blocks_ttl`: 480 s. */
export const DEFAULT_KV_KEEP_US: Micros = 480_000_000;

/** @param kvLeaseUs L, at least 6 µs */
export function leaseTimes(
  kvLeaseUs: Micros = DEFAULT_KV_LEASE_US,
  keepUs: Micros = DEFAULT_KV_KEEP_US,
  routedUs: Micros = kvLeaseUs,
): LeaseTimes {
  assert(Number.isInteger(kvLeaseUs) && kvLeaseUs >= 6, `a lease of ${kvLeaseUs} µs is too short`);
  return {
    leaseUs: kvLeaseUs,
    heartbeatEveryUs: Math.floor(kvLeaseUs / 6),
    renewalUs: Math.floor((kvLeaseUs * 2) / 3),
    keepUs,
    routedUs: Math.max(routedUs, kvLeaseUs),
  };
}

/**
 * Leases in the order in which they end. First terms, renewals and the terms of kept blocks have
 * different lengths, so each kind has its own list. The caller's instants never go back.
 */
export class LeaseBook<T> {
  private readonly first = new DeadlineList<T>();
  /** Made on first use, so that `earliest` reads only existing lists. */
  private renewed: DeadlineList<T> | undefined;
  private routed: DeadlineList<T> | undefined;
  private unread: DeadlineList<T> | undefined;

  constructor(private readonly times: LeaseTimes) {}

  open(lease: Deadline<T>, nowUs: Micros): void {
    this.first.set(lease, nowUs + this.times.leaseUs);
  }

  /** Opens the lease of blocks whose reader the cluster itself routes. */
  openRouted(lease: Deadline<T>, nowUs: Micros): void {
    this.routed ??= new DeadlineList();
    this.routed.set(lease, nowUs + this.times.routedUs);
  }

  /** Opens the lease of blocks without a reader on its way. */
  keep(lease: Deadline<T>, nowUs: Micros): void {
    this.unread ??= new DeadlineList();
    this.unread.set(lease, nowUs + this.times.keepUs);
  }

  /** Renews the lease: it ends at max(old end, now + L·2/3). */
  renew(lease: Deadline<T>, nowUs: Micros): void {
    const endUs = nowUs + this.times.renewalUs;
    if (lease.chain === undefined || endUs <= lease.dueUs) return;
    this.renewed ??= new DeadlineList();
    this.renewed.set(lease, endUs);
  }

  endLease(lease: Deadline<T>): void {
    clearDeadline(lease);
  }

  /** The lease that ends first; of two that end together, the one that was never renewed. */
  earliest(): Deadline<T> | undefined {
    const opened = earlier(this.first.earliest(), this.routed?.earliest());
    const unrenewed = earlier(opened, this.unread?.earliest());
    return earlier(unrenewed, this.renewed?.earliest());
  }
}

function earlier<T>(
  a: Deadline<T> | undefined,
  b: Deadline<T> | undefined,
): Deadline<T> | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.dueUs <= b.dueUs ? a : b;
}
