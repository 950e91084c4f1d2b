import { ConservationAudit } from '../conservation-audit';
import { EngineDrain } from '../drain';
import { EngineNumbers } from '../engine-numbers';
import { Inspection } from '../inspection';
import { LoadBeacon } from '../load-beacon';
import { Operations } from '../operations';
import { PresenceBeacon } from '../presence';
import { Sweep } from '../sweep';
import type { Core } from './core';
import type { Sides } from './sides';
import type { Site } from './site';
import type { Work } from './work';

/**
 * The parts of an engine besides its work: reports, commands of operators, cleaning up, leaving.
 */
export interface Duties {
  readonly operations: Operations;
  readonly numbers: EngineNumbers;
  readonly beacon: PresenceBeacon;
  readonly load: LoadBeacon;
  readonly sweep: Sweep;
  readonly drain: EngineDrain;
}

export function buildDuties(site: Site, core: Core, built: Sides & Work): Duties {
  const shared = { ...site, ...core, ...built };
  const operations = new Operations(shared);
  const audit = new ConservationAudit(shared);
  const gauges = { ...shared, operations, audit };
  const numbers = new EngineNumbers({ ...shared, gauges });
  const inspection = new Inspection(shared);
  return {
    ...{ operations, numbers },
    beacon: new PresenceBeacon({ ...site, numbers }),
    load: new LoadBeacon(shared),
    sweep: new Sweep({ ...shared, inspection }),
    drain: new EngineDrain(shared),
  };
}
