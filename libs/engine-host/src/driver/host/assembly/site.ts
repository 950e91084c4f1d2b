import type { LiveClock, WallClock } from '@baton/clock';
import { EngineIdentity } from '../../../live-engine/engine/engine-identity';
import { type JobRouting, SharedQueues } from '../../../routing/job-routing';
import { type Logger, moduleLogger } from '@baton/telemetry';
import type { Bus, JobQueues, RequestLedger, Transport } from '@baton/transport';
import type { HostDependencies, HostOptions } from '../engine-host';

/** The environment of an engine: what exists before any of its parts is built. */
export interface Site {
  readonly identity: EngineIdentity;
  readonly options: HostOptions;
  readonly transport: Transport;
  readonly bus: Bus;
  readonly jobs: JobQueues;
  readonly ledger: RequestLedger;
  readonly routing: JobRouting;
  readonly clock: LiveClock;
  readonly wall: WallClock;
  readonly log: Logger;
}

export function siteOf(options: HostOptions, dependencies: HostDependencies): Site {
  const { transport, clock, log, routing = new SharedQueues() } = dependencies;
  const { bus, jobs, ledger } = transport;
  const identity = new EngineIdentity(options);
  return {
    identity,
    options,
    transport,
    bus,
    jobs,
    ledger,
    routing,
    clock,
    wall: clock.wall,
    log: moduleLogger(log, 'engine').child({ engine: identity.engineId.slice(0, 8) }),
  };
}
