import type { Micros } from '@baton/kernel';

/** The latency targets and the weight of a group of requests. */
export interface SloClass {
  readonly name: string;
  /** Lower goes first, as in vLLM. */
  readonly priority: number;
  /** Share of the service under weighted fair queueing, > 0. */
  readonly weight: number;
  /** TTFT target. Unset for a class without one. */
  readonly ttftUs?: Micros | undefined;
  /** Target of the time per output token. Unset for a class without one. */
  readonly tpotUs?: Micros | undefined;
}

/** The fields of a request that determine its class, from the most to the least specific. */
export interface ClassSigns {
  /** `x-slo-class`, or the class of a row. */
  readonly name?: string | undefined;
  /** The name of an InferenceObjective of llm-d. */
  readonly objective?: string | undefined;
  /** OpenAI's `service_tier`. */
  readonly tier?: string | undefined;
  /** vLLM's priority; the default 0 has no meaning. */
  readonly priority?: number | undefined;
}

/** The class of all requests when none is configured. */
export const ONLY_CLASS: SloClass = { name: 'default', priority: 0, weight: 1 };

/** The classes of a cluster, with a default class for requests that name none. */
export class SloClasses {
  private readonly byObjective: ReadonlyMap<string, SloClass>;
  private readonly byName: ReadonlyMap<string, SloClass>;
  private readonly byPriority: ReadonlyMap<number, SloClass>;

  /**
   * @param all at least one, with distinct names
   * @param objectives names of InferenceObjectives with their class; a class name is one, too
   */
  constructor(
    readonly all: readonly SloClass[],
    readonly ordinary: SloClass,
    objectives: readonly (readonly [name: string, of: SloClass])[] = [],
  ) {
    this.byName = new Map(all.map((each) => [each.name, each]));
    this.byObjective = new Map([...this.byName, ...objectives]);
    // When several classes have a priority, the first one has precedence.
    this.byPriority = new Map([...all].reverse().map((each) => [each.priority, each]));
  }

  /**
   * The class of a request. An objective, tier or priority that belongs to no class has no effect,
   * because clients also send them to servers without classes.
   *
   * @returns undefined when it names a class that does not exist
   */
  find({ name, objective, tier, priority = 0 }: ClassSigns): SloClass | undefined {
    if (name !== undefined) return this.byName.get(name);
    return (
      (objective === undefined ? undefined : this.byObjective.get(objective)) ??
      (tier === undefined ? undefined : this.byName.get(tier)) ??
      (priority === 0 ? undefined : this.byPriority.get(priority)) ??
      this.ordinary
    );
  }

  get names(): readonly string[] {
    return this.all.map(({ name }) => name);
  }
}
