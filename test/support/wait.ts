import { setTimeout as pause } from 'node:timers/promises';

export interface WaitOptions {
  /** Completes the sentence "gave up waiting until ...". */
  readonly what: string;
  /** Time limit: 120 s by default. */
  readonly deadlineMs?: number;
  /**
   * Work without which the fact cannot hold; its end ends the wait as well. A test that is stopped
   * for as long as the work takes never sees the fact.
   */
  readonly during?: Promise<unknown>;
}

/** Polls a fact until it holds. Use it for facts of another process that no event announces. */
export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  { what, deadlineMs = 120_000, during }: WaitOptions,
): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  let isOver = false;
  const end = (): void => void (isOver = true);
  during?.then(end, end);
  while (!(await holds()) && !isOver) {
    if (performance.now() > endMs) throw new Error(`gave up waiting until ${what}`);
    await pause(15);
  }
}
