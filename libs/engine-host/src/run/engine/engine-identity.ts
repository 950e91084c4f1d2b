import type { EnginePresence, Stage } from '@baton/contract';
import { randomUUID } from 'node:crypto';
import type { StepBarrier } from './step-barrier';

/** The data-parallel rank of a scheduler in its engine. */
export interface RankOptions {
  /** 0 .. size - 1. */
  readonly rank: number;
  readonly size: number;
  /** Rank 0, by whose index the cluster names the engine. */
  readonly leader: () => { readonly engineId: string; readonly index: number };
  /** Keeps ranks in step. Unset: each steps by itself. */
  readonly barrier?: StepBarrier | undefined;
}

export interface IdentityOptions {
  readonly role: Stage;
  /** Unset: the engine has one rank. */
  readonly dataParallel?: RankOptions;
  /** The index that it takes if it is free. Unset: the smallest free one. */
  readonly index?: number;
}

/** The identity of one engine in the cluster. The presence beacon writes index and state. */
export class EngineIdentity {
  /** New with each start, so that no engine gets mail for an earlier one of this process. */
  readonly engineId = randomUUID();
  readonly role: Stage;
  /** Undefined for an engine of one rank. */
  readonly dataParallel: RankOptions | undefined;
  /** vLLM's engine number, unique among living engines. Before: the wanted one. */
  index: number;
  state: EnginePresence['state'] = 'starting';
  /** The cause of its start that is under way. */
  loading: string | undefined;

  constructor({ role, dataParallel, index = 0 }: IdentityOptions) {
    this.role = role;
    this.dataParallel = dataParallel;
    this.index = index;
  }
}
