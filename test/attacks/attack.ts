/** A request that tries to hold the event loop of the API, with its valid answers. */
export interface Attack {
  readonly title: string;
  readonly path: string;
  /** Created for each sending, because some are many megabytes long. */
  readonly body: () => unknown;
  /** Number of simultaneous requests. Default: 1. */
  readonly times?: number;
  /** The status of each answer must be one of these. */
  readonly statuses: readonly number[];
  /**
   * Sent first, and answered with 200. `{id}` in the path and the body stands for the id of its
   * answer.
   */
  readonly first?: Pick<Attack, 'path' | 'body'>;
  /** Default: POST. */
  readonly method?: 'GET' | 'POST';
  /**
   * True: messages over a WebSocket at the path. Each is answered by one piece of JSON or by
   * events.
   */
  readonly isSocket?: boolean;
}

/** Answered, or refused in the regular way. */
export const EITHER = [200, 400, 503];

export function list<Item>(length: number, item: (index: number) => Item): Item[] {
  return Array.from({ length }, (_, index) => item(index));
}

export function members<Item>(
  count: number,
  member: (index: number) => readonly [string, Item],
): Record<string, Item> {
  return Object.fromEntries(list(count, member));
}
