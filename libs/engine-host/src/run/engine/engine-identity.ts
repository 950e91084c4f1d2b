import type { EnginePresence, Stage } from '@baton/contract';
import { engineName } from '@baton/kernel';
import { randomUUID } from 'node:crypto';
import type { StepBarrier } from './step-barrier';

/** What the ranks of an engine share: id, index and number of rank 0. */
interface EngineNumber {
  readonly engineId: string;
  readonly index: number;
  readonly number: number;
}

/** The data-parallel rank of a scheduler in its engine. */
export interface RankOptions {
  /** 0 .. size - 1. */
  readonly rank: number;
  readonly size: number;
  /** Rank 0, by whose numbers the cluster names the engine. */
  readonly leader: () => EngineNumber;
  /** Keeps ranks in step. Unset: each steps by itself. */
  readonly barrier?: StepBarrier | undefined;
}

export interface IdentityOptions {
  readonly role: Stage;
  /** Unset: the engine has one rank. */
  readonly dataParallel?: RankOptions;
  /** The index that it takes if it is free. Unset: the smallest free one. */
  readonly index?: number;
  /** The number in its name that it takes if it is free. Unset: the smallest free one. */
  readonly number?: number;
}

/**
 * The identity of one engine in the cluster. The presence beacon writes its numbers and its state.
 */
export class EngineIdentity {
  /** New with each start, so that no engine gets mail for an earlier one of this process. */
  readonly engineId = randomUUID();
  readonly role: Stage;
  /** Undefined for an engine of one rank. */
  readonly dataParallel: RankOptions | undefined;
  /** vLLM's engine number, unique among living engines. Before: the wanted one. */
  index: number;
  /** The number in its name. Before the beacon writes it: the wanted one. */
  number: number;
  state: EnginePresence['state'] = 'starting';
  /** The cause of its start that is under way. */
  loading: string | undefined;

  constructor({ role, dataParallel, index = 0, number = 0 }: IdentityOptions) {
    this.role = role;
    this.dataParallel = dataParallel;
    this.index = index;
    this.number = number;
  }

  /** `P0`, `D3`, `D3-DP1`. */
  get name(): string {
    return engineName(this.role, this.number, this.dataParallel?.rank);
  }
}
