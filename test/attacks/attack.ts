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
  /** Default `request`. */
  readonly way?: Way;
  /** Encodes the body. */
  readonly isZipped?: boolean;
}

/**
 * How an attack is sent, `times` times: as a request; as messages over one WebSocket at the path,
 * each answered in one piece of JSON or by events; or as bytes over connections of their own, which
 * are read until they close (`wire`) or have an answer (`glance`). A connection that closes without
 * an answer has status 0.
 */
export type Way = 'request' | 'socket' | 'wire' | 'glance';

/** Answered, or refused in order. */
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
