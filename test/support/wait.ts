import { setTimeout as pause } from 'node:timers/promises';

export interface WaitOptions {
  /** Completes the sentence "gave up waiting until ...". */
  readonly what: string;
  /** Time limit: 120 s by default. */
  readonly deadlineMs?: number;
}

/** Polls a fact until it holds. Use it for facts of another process that no event announces. */
export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  { what, deadlineMs = 120_000 }: WaitOptions,
): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`gave up waiting until ${what}`);
    await pause(15);
  }
}
