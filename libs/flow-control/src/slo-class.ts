import type { Micros } from '@baton/kernel';

/** What a group of requests is promised, and how much they count. */
export interface SloClass {
  readonly name: string;
  /** Lower goes first, as in vLLM. */
  readonly priority: number;
  /** Share of the service under weighted fair queueing, > 0. */
  readonly weight: number;
  /** TTFT to be kept; unset: none is promised. */
  readonly ttftUs?: Micros | undefined;
  /** Time per output token to be kept; unset: none is promised. */
  readonly tpotUs?: Micros | undefined;
}

/** What a request says about its class, from the most to the least particular. */
export interface ClassSigns {
  /** `x-slo-class`, or the class of a row. */
  readonly name?: string | undefined;
  /** The name of an InferenceObjective of llm-d. */
  readonly objective?: string | undefined;
  /** OpenAI's `service_tier`. */
  readonly tier?: string | undefined;
  /** vLLM's priority; 0, which every request has, says nothing. */
  readonly priority?: number | undefined;
}

/** The class of all requests where none is configured. */
export const ONLY_CLASS: SloClass = { name: 'default', priority: 0, weight: 1 };

/** The classes of a cluster, one of which is that of requests that name none. */
export class SloClasses {
  private readonly byName: ReadonlyMap<string, SloClass>;
  private readonly byPriority: ReadonlyMap<number, SloClass>;

  /** @param all at least one, with names of their own */
  constructor(
    readonly all: readonly SloClass[],
    readonly ordinary: SloClass,
  ) {
    this.byName = new Map(all.map((each) => [each.name, each]));
    // Where several have a priority, the first one has it.
    this.byPriority = new Map([...all].reverse().map((each) => [each.priority, each]));
  }

  /**
   * The class of a request. An objective, tier or priority that belongs to no class says nothing,
   * for clients send them to servers without classes too.
   *
   * @returns undefined when it names a class that does not exist
   */
  find({ name, objective, tier, priority = 0 }: ClassSigns): SloClass | undefined {
    if (name !== undefined) return this.byName.get(name);
    return (
      this.named(objective) ??
      this.named(tier) ??
      (priority === 0 ? undefined : this.byPriority.get(priority)) ??
      this.ordinary
    );
  }

  get names(): readonly string[] {
    return this.all.map(({ name }) => name);
  }

  private named(name: string | undefined): SloClass | undefined {
    return name === undefined ? undefined : this.byName.get(name);
  }
}
