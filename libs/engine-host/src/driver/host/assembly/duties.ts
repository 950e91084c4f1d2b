import { ConservationAudit } from '../conservation-audit';
import { EngineDrain } from '../drain';
import { EngineNumbers } from '../engine-numbers';
import { Inspection } from '../inspection';
import { LoadBeacon } from '../load-beacon';
import { Operations } from '../operations';
import { PresenceBeacon } from '../presence';
import { Startup } from '../startup';
import { Sweep } from '../sweep';
import { WarmStart } from '../warm-start';
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
  readonly warmStart: WarmStart;
  readonly startup: Startup;
}

export function buildDuties(site: Site, core: Core, built: Sides & Work): Duties {
  const shared = { ...site, ...core, ...built };
  const operations = new Operations(shared);
  const audit = new ConservationAudit(shared);
  const gauges = { ...shared, operations, audit };
  const numbers = new EngineNumbers({ ...shared, gauges });
  const inspection = new Inspection(shared);
  const warmStart = new WarmStart(shared);
  return {
    operations,
    numbers,
    warmStart,
    beacon: new PresenceBeacon({ ...site, numbers }),
    startup: new Startup({ ...site, warmStart }),
    load: new LoadBeacon(shared),
    sweep: new Sweep({ ...shared, inspection }),
    drain: new EngineDrain(shared),
  };
}
