/** Exit code: 1 where an advisory applies. */
export function check(
  packages: readonly { lock: string; name: string; version: string }[],
  list: { asOf: string; advisories: readonly object[] },
): 0 | 1;
