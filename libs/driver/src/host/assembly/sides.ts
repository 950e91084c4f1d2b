import { FailedFetches } from '../../handoff/failed-fetches';
import { Handoff } from '../../handoff/handoff';
import { HeldKv } from '../../handoff/held-kv';
import { HeldOffers } from '../../handoff/held-offers';
import { KvLoads } from '../../handoff/kv-loads';
import { Reservations } from '../../handoff/reservations';
import { SourcePatience } from '../../handoff/source-patience';
import { SourceSide } from '../../handoff/source-side';
import { TargetMail } from '../../handoff/target-mail';
import { TargetSide } from '../../handoff/target-side';
import { Transfers } from '../../handoff/transfers';
import { JobFaults } from '../../jobs/job-faults';
import type { Core } from './core';
import type { Ends } from './ends';
import type { Site } from './site';

/** Both ends of hand-overs. */
export interface Sides {
  readonly handoff: Handoff;
  readonly heldKv: HeldKv;
  readonly source: SourceSide;
  readonly target: TargetSide;
  readonly patience: SourcePatience;
  readonly failed: FailedFetches;
  readonly jobFaults: JobFaults;
}

export function buildSides(site: Site, core: Core, { endings }: Ends): Sides {
  const shared = { ...site, ...core, endings };
  const { documents } = site.transport;
  const handoff = new Handoff(shared);
  const heldKv = new HeldKv(shared);
  const offers = new HeldOffers({ ...shared, handoff, heldKv });
  const source = new SourceSide({ ...shared, heldKv, offers });
  const failed = new FailedFetches(shared);
  const jobFaults = new JobFaults({ ...shared, documents });
  const patience = new SourcePatience(shared);
  const transfers = new Transfers(shared);
  const loads = new KvLoads({ ...shared, transfers, failed, jobFaults });
  const mail = new TargetMail({ ...shared, jobFaults });
  const reservations = new Reservations(shared);
  const target = new TargetSide({ ...shared, mail, reservations, loads, transfers }, patience);
  return { handoff, heldKv, source, target, patience, failed, jobFaults };
}
