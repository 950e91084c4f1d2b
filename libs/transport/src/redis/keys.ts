/**
 * Names of all keys and channels. The braces make a hash tag: in a Redis Cluster all keys are in
 * one slot, so that a script may use several.
 */
export class Keys {
  private readonly tag: string;

  /** @param tenants those that requests of this process can have, to find foreign keys */
  constructor(
    readonly prefix: string,
    readonly tenants: readonly string[] = [],
  ) {
    this.tag = `{${prefix.replace(/:$/, '')}}:`;
  }

  /** BullMQ's own prefix; it adds `:<queue>:<part>`. */
  get queues(): string {
    return `${this.tag}queue`;
  }

  request(requestId: string): string {
    return `${this.tag}req:${requestId}`;
  }

  prompt(requestId: string): string {
    return `${this.tag}prompt:${requestId}`;
  }

  /**
   * The key that exists as long as an API process renews it. With an empty id: the prefix of all of
   * them.
   */
  api(apiId: string): string {
    return `${this.tag}api:${apiId}`;
  }

  /** Like `api`, for engines; the value is the engine's presence. */
  engine(engineId: string): string {
    return `${this.tag}engine:${engineId}`;
  }

  /** Exists from the claim of a number until the first heartbeat is overdue. */
  claim(engineId: string): string {
    return `${this.tag}claim:${engineId}`;
  }

  /** Set of the engine ids that can have a presence, so that no command scans the keys. */
  get engines(): string {
    return `${this.tag}engines`;
  }

  /** Another value after each announcement or departure of an engine. */
  get enginesRevision(): string {
    return `${this.tag}engines-revision`;
  }

  /** Hash of index and of name to engine id. */
  get places(): string {
    return `${this.tag}places`;
  }

  /** With an empty id: the prefix of all documents of the collection. */
  document(collection: string, id: string): string {
    return `${this.tag}doc:${collection}:${id}`;
  }

  /** Sorted set of the ids of a collection by their last use. */
  documentUses(collection: string): string {
    return `${this.tag}docs:${collection}`;
  }

  /** The instant at which the budget is full, µs since the Unix epoch by the server's clock. */
  budget(owner: string, budget: string): string {
    return `${this.tag}budget:${owner}:${budget}`;
  }

  /** Hash of API id to its share of the requests that wait for the stage. */
  waiting(stage: string): string {
    return `${this.tag}waiting:${stage}`;
  }

  /**
   * Identifies the data when the run ids of servers cannot (a cluster has many): a new value means
   * lost data.
   */
  get life(): string {
    return `${this.tag}life`;
  }

  channel(name: string): string {
    return `${this.tag}${name}`;
  }
}

/**
 * Escapes colons, which BullMQ forbids in names of queues and jobs. Distinct names stay distinct.
 */
export function withoutColons(name: string): string {
  return name.replace(/[:%]/g, (c) => (c === ':' ? '%3A' : '%25'));
}
