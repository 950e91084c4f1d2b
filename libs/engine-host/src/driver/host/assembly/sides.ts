import { JobFaults } from '../../endings/job-faults';
import { FailedFetches } from '../../handoff/failed-fetches';
import { Handoff, HeldOffers } from '../../handoff/handoff';
import { HeldKv } from '../../handoff/held-kv';
import { KvLoads, Reservations, Transfers } from '../../handoff/kv-loads';
import { SourceTimeout } from '../../handoff/source-timeout';
import { SourceSide } from '../../handoff/source-side';
import { TargetSide } from '../../handoff/target-side';
import type { Core } from './core';
import type { Site } from './site';

/** Both ends of hand-overs. */
export interface Sides {
  readonly handoff: Handoff;
  readonly heldKv: HeldKv;
  readonly source: SourceSide;
  readonly target: TargetSide;
  readonly sourceTimeout: SourceTimeout;
  readonly failed: FailedFetches;
  readonly jobFaults: JobFaults;
}

export function buildSides(site: Site, core: Core): Sides {
  const shared = { ...site, ...core };
  const { documents } = site.transport;
  const handoff = new Handoff(shared);
  const heldKv = new HeldKv(shared);
  const offers = new HeldOffers({ ...shared, handoff, heldKv });
  const source = new SourceSide({ ...shared, heldKv, offers });
  const failed = new FailedFetches(shared);
  const jobFaults = new JobFaults({ ...shared, documents });
  const sourceTimeout = new SourceTimeout(shared);
  const transfers = new Transfers(shared);
  const loads = new KvLoads({ ...shared, transfers, failed, jobFaults });
  const reservations = new Reservations(shared);
  const fetching = { jobFaults, reservations, loads, transfers };
  const target = new TargetSide({ ...shared, ...fetching }, sourceTimeout);
  return { handoff, heldKv, source, target, sourceTimeout, failed, jobFaults };
}
