import { UPSTREAM_OUTCOMES, type UpstreamKey, type UpstreamOutcome } from '@baton/telemetry';
import { lostBy, UpstreamLost, UpstreamRefusal } from '../server/upstream-server';

/** Counts how the legs of one engine end on its server. */
export class LegTally {
  private readonly ends = new Map<UpstreamOutcome, number>(
    UPSTREAM_OUTCOMES.map((one) => [one, 0]),
  );
  private retries = 0;

  /** @throws UpstreamLost, UpstreamRefusal; an error that `signal` caused is thrown unchanged */
  async leg<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      const done = await work();
      this.count(signal.aborted ? 'aborted' : 'ok');
      return done;
    } catch (error) {
      const cause = lostBy(error);
      if (signal.aborted) this.count('aborted');
      else if (cause instanceof UpstreamRefusal) this.count('refused');
      else if (cause instanceof UpstreamLost) this.count(cause.why);
      throw cause;
    }
  }

  retried(): void {
    this.retries += 1;
  }

  counters(): Readonly<Record<UpstreamKey, number>> {
    const ends = [...this.ends].map(([outcome, count]) => [`upstream_${outcome}`, count]);
    return { ...Object.fromEntries(ends), upstream_retries: this.retries } as Record<
      UpstreamKey,
      number
    >;
  }

  private count(outcome: UpstreamOutcome): void {
    this.ends.set(outcome, (this.ends.get(outcome) ?? 0) + 1);
  }
}
