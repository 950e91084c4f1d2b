/**
 * Shortens a list that is refilled repeatedly. Setting `length` would free its memory, which would
 * then be allocated again.
 */
export function truncate(list: unknown[], length: number): void {
  while (list.length > length) list.pop();
}
