/**
 * Shortens a list that is filled again and again. Setting `length` would free its memory, to be
 * allocated anew.
 */
export function truncate(list: unknown[], length: number): void {
  while (list.length > length) list.pop();
}
