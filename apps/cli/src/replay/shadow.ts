import type { ShadowDecision } from '@baton/simulation';
import { msToUs, quantile, usToMs, usToSeconds } from '@baton/kernel';
import { requestIdOf, type Workload } from '@baton/workload';

/** The comparison of a policy with the recorded router. */
export interface ShadowSummary {
  readonly policy: string;
  readonly decisions: number;
  /** Decisions for the same engine. */
  readonly same: number;
  /** Predicted means in ms, and the gain with the policy's engine. */
  readonly recorded_ttft_ms: number | null;
  readonly own_ttft_ms: number | null;
  readonly gain_ms: {
    readonly p10: number | null;
    readonly p50: number | null;
    readonly p90: number | null;
  };
  /** Decisions for each engine. */
  readonly engines: readonly {
    readonly engine: string;
    readonly recorded: number;
    readonly own: number;
  }[];
}

/** Collects the choices of a policy next to those of a real router. */
export class ShadowLog {
  private readonly decisions: ShadowDecision[] = [];

  constructor(private readonly policy: string) {}

  add(decision: ShadowDecision): void {
    this.decisions.push(decision);
  }

  summary(): ShadowSummary {
    const { decisions } = this;
    const mean = (of: (decision: ShadowDecision) => number): number | null => {
      if (decisions.length === 0) return null;
      return usToMs(decisions.reduce((sum, each) => sum + of(each), 0) / decisions.length);
    };
    const gains = Float64Array.from(decisions, gainMs).sort();
    const gain = (share: number): number | null =>
      gains.length === 0 ? null : quantile(gains, share);
    return {
      policy: this.policy,
      decisions: decisions.length,
      same: decisions.filter(({ recorded, own }) => recorded === own).length,
      recorded_ttft_ms: mean(({ recordedTtftUs }) => recordedTtftUs),
      own_ttft_ms: mean(({ ownTtftUs }) => ownTtftUs),
      gain_ms: { p10: gain(0.1), p50: gain(0.5), p90: gain(0.9) },
      engines: this.byEngine(),
    };
  }

  /** One line per decision, in order of time. */
  *csv(workload: Workload): Generator<string> {
    yield 'request_id,arrival_s,recorded,own,recorded_ttft_ms,own_ttft_ms,gain_ms\n';
    for (const decision of this.decisions) {
      const { row, atUs, recordedTtftUs, ownTtftUs } = decision;
      const cells = [
        ...[quoted(requestIdOf(workload, row) ?? String(row)), usToSeconds(atUs)],
        ...[nameOf(decision, decision.recorded), nameOf(decision, decision.own)],
        ...[usToMs(recordedTtftUs), usToMs(ownTtftUs), gainMs(decision)].map(rounded),
      ];
      yield `${cells.join(',')}\n`;
    }
  }

  private byEngine(): ShadowSummary['engines'] {
    const counts = new Map<string, { recorded: number; own: number }>();
    const of = (name: string): { recorded: number; own: number } => {
      const found = counts.get(name) ?? { recorded: 0, own: 0 };
      counts.set(name, found);
      return found;
    };
    for (const decision of this.decisions) {
      of(nameOf(decision, decision.recorded)).recorded += 1;
      of(nameOf(decision, decision.own)).own += 1;
    }
    const names = [...counts.keys()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    return names.map((engine) => ({ engine, ...counts.get(engine)! }));
  }
}

function gainMs({ recordedTtftUs, ownTtftUs }: ShadowDecision): number {
  return usToMs(recordedTtftUs - ownTtftUs);
}

/** Milliseconds with three decimal places. */
function rounded(ms: number): number {
  return Math.round(msToUs(ms)) / msToUs(1);
}

function nameOf({ role }: ShadowDecision, engine: number): string {
  return `${role}-${engine}`;
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A few lines after the table of a replay. */
export async function shadowText(shadow: ShadowSummary): Promise<string> {
  const { consoleTable, formatMs, formatNumber, formatShare, wrapWords } =
    await import('@baton/report');
  const { policy, decisions, same, gain_ms: gain, engines } = shadow;
  const right = 'right' as const;
  const columns = [
    { name: 'engine' },
    { name: 'recorded', align: right },
    { name: policy, align: right },
  ];
  const rows = engines.map(({ engine, recorded, own }) => [
    ...[engine, formatNumber(recorded), formatNumber(own)],
  ]);
  const title =
    `Shadow: ${policy} beside the recorded router, ${formatNumber(decisions)} decisions, ` +
    `${formatShare(decisions === 0 ? null : same / decisions)} the same`;
  const ttft =
    `predicted TTFT: recorded ${formatMs(shadow.recorded_ttft_ms)}, ` +
    `${policy} ${formatMs(shadow.own_ttft_ms)}; ` +
    `sooner by p10 ${signedMs(gain.p10, formatMs)}, p50 ${signedMs(gain.p50, formatMs)}, ` +
    `p90 ${signedMs(gain.p90, formatMs)}`;
  return `\n${wrapWords(title)}${wrapWords(ttft)}${consoleTable(columns, rows)}`;
}

function signedMs(ms: number | null, formatMs: (ms: number | null) => string): string {
  return ms !== null && ms < 0 ? `-${formatMs(-ms)}` : formatMs(ms);
}
