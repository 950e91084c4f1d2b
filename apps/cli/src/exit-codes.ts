/** Exit codes of commands that measure; `bench --help` documents them. */
export const EXIT_CODES = {
  done: 0,
  /** Interrupted, or nothing was measured. */
  incomplete: 1,
  /** The figures are void: the load was sent late, or the server was late. */
  void: 3,
} as const;
