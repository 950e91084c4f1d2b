import { randomUUID } from 'node:crypto';
import type { EnginePresence, Stage } from '@baton/contract';
import type { HostOptions, RankOptions } from './host-options';

/** What the cluster knows one engine by. The presence beacon writes index and state. */
export class EngineIdentity {
  /** New with each start: mail for an earlier engine of this process reaches none. */
  readonly engineId = randomUUID();
  readonly role: Stage;
  /** Undefined for an engine of one rank. */
  readonly dataParallel: RankOptions | undefined;
  /** vLLM's engine number, unique among living engines; 0 until the cluster has given it. */
  index = 0;
  state: EnginePresence['state'] = 'starting';

  constructor({ role, dataParallel }: Pick<HostOptions, 'role' | 'dataParallel'>) {
    this.role = role;
    this.dataParallel = dataParallel;
  }
}
