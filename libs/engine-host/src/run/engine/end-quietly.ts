import type { Logger } from '@baton/telemetry';

/** Awaits the end of a part: an engine ends even when the broker is not available. */
export async function endQuietly(end: Promise<unknown>, log: Logger): Promise<void> {
  await end.catch((error: unknown) => {
    log.debug({ err: error }, 'while stopping');
  });
}
