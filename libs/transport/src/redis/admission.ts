import { STAGES, type Stage } from '@baton/contract';
import type { AdmissionCounters } from '../port/admission';
import { SET_SHARES, SHIFT, TOTALS, TRY_ENTER } from './admission-scripts';
import type { Keys } from './keys';
import type { RedisLink } from './connection/link';

type Shares = Record<Stage, number>;

/** The wait between a failed write and the next one of all shares. */
const REWRITE_AFTER_MS = 1_000;

/**
 * Admission over all API processes. Redis decides. This object also keeps the shares granted to the
 * API processes of this transport, because no other process has them. It writes lost or missed
 * shares again as absolute numbers: when the link is restored, when an API counted as dead, and
 * a second after a write that failed.
 */
export class RedisAdmission implements AdmissionCounters {
  private readonly granted = new Map<string, Shares>();
  private readonly hashes: readonly string[];
  private rewriteDue: NodeJS.Timeout | undefined;
  /** Absolute writes under way. */
  private rewrites = 0;

  constructor(
    private readonly link: RedisLink,
    private readonly keys: Keys,
  ) {
    this.hashes = STAGES.map((stage) => keys.waiting(stage));
    link.onRestore(() => this.rewriteAll());
  }

  async tryEnter(...question: Parameters<AdmissionCounters['tryEnter']>): Promise<boolean> {
    const [apiId, stage, count, limit] = question;
    const args = [apiId, count, limit, this.keys.api('')];
    let hasGivenUp = false;
    const ask = async (): Promise<boolean> => {
      const reply = await this.link.scripts.run(TRY_ENTER, [this.keys.waiting(stage)], args);
      if (reply !== 1) return false;
      // Redis answers in order: it granted before the write under way, which lacks this grant.
      if (this.rewrites > 0) this.rewriteSoon();
      // The caller already got a failure, so a later grant is returned.
      if (hasGivenUp) await this.write(apiId, { [stage]: -count });
      else this.grant(apiId, { [stage]: count });
      return true;
    };
    try {
      return await this.link.ask('tryEnter', ask);
    } catch (error) {
      hasGivenUp = true;
      throw error;
    }
  }

  /** While the broker is unavailable the shares change only here; they are written afterwards. */
  async shift(apiId: string, deltas: Readonly<Partial<Shares>>): Promise<Shares | undefined> {
    this.grant(apiId, deltas);
    if (!this.link.isUp) return undefined;
    return this.link.call('shift', () => this.write(apiId, deltas));
  }

  async totals(): Promise<Shares> {
    const { link, hashes, keys } = this;
    const ask = (): Promise<unknown> => link.scripts.run(TOTALS, hashes, [keys.api('')]);
    return totalsOf(await link.ask('totals', ask));
  }

  /** Writes the shares of one API as kept here. */
  async rewrite(apiId: string): Promise<void> {
    const shares = this.granted.get(apiId);
    if (shares === undefined) return;
    this.rewrites += 1;
    try {
      const args = [apiId, ...STAGES.map((stage) => shares[stage])];
      await this.link.scripts.run(SET_SHARES, this.hashes, args);
    } catch (error) {
      this.rewriteSoon();
      throw error;
    } finally {
      this.rewrites -= 1;
    }
  }

  forget(apiId: string): void {
    this.granted.delete(apiId);
  }

  private async rewriteAll(): Promise<void> {
    for (const apiId of this.granted.keys()) await this.rewrite(apiId);
  }

  /** A failure schedules the next attempt; a restored link writes all shares itself. */
  private rewriteSoon(): void {
    this.rewriteDue ??= setTimeout(() => {
      this.rewriteDue = undefined;
      this.link.call('rewrite', () => this.rewriteAll()).catch(() => undefined);
    }, REWRITE_AFTER_MS).unref();
  }

  private grant(apiId: string, deltas: Readonly<Partial<Shares>>): void {
    const shares = this.granted.get(apiId) ?? sharesOf(() => 0);
    for (const stage of STAGES) shares[stage] = Math.max(0, shares[stage] + (deltas[stage] ?? 0));
    this.granted.set(apiId, shares);
  }

  private async write(apiId: string, deltas: Readonly<Partial<Shares>>): Promise<Shares> {
    const args = [apiId, this.keys.api(''), ...STAGES.map((stage) => deltas[stage] ?? 0)];
    try {
      return totalsOf(await this.link.scripts.run(SHIFT, this.hashes, args));
    } catch (error) {
      // Some stages may have been written, others not.
      this.rewriteSoon();
      throw error;
    }
  }
}

function totalsOf(reply: unknown): Shares {
  return sharesOf((i) => (reply as readonly number[])[i] ?? 0);
}

function sharesOf(share: (index: number) => number): Shares {
  return { prefill: share(0), decode: share(1), aggregated: share(2) };
}
