/** Waits until the condition holds, checking every few milliseconds; fails when it never does. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  deadlineMs = 120_000,
): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new TypeError(`never true: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
