import { Failure, median } from '@baton/kernel';
import { type Workload, WorkloadBuilder } from '@baton/workload';
import { type Counters, onlyNewMs, type Part, PARTS } from './counters';
import type { Answered, LiveTarget } from './target';

/** A prompt computed on an otherwise idle cluster: medians over the rounds, ms. */
export interface PromptPoint {
  /** By the server's count. */
  readonly tokens: number;
  /** Cached tokens among them, from a request that was sent for this purpose. */
  readonly cached: number;
  readonly ttftMs: number;
  /** Time to first token of each round, in the order measured. */
  readonly roundsMs: readonly number[];
  /** The server's own parts of it. Undefined without such metrics. */
  readonly parts: Readonly<Partial<Record<Part, number>>>;
  /** vLLM's own prefill time. */
  readonly enginePrefillMs: number | undefined;
  /** The time of the KV transfer by its reader's metrics. */
  readonly transferMs: number | undefined;
}

interface Round {
  readonly answer: Answered;
  readonly parts: Readonly<Partial<Record<Part, number>>>;
  readonly enginePrefillMs: number | undefined;
  readonly transferMs: number | undefined;
}

/** A prompt to measure. */
export interface PromptCell {
  readonly tokens: number;
  /** Tokens of it that a preceding request puts into a cache. 0: none. */
  readonly prefix: number;
}

/** Computes prompts one at a time, with one output token each. */
export class PromptRounds {
  private readonly measured: readonly Round[][];

  constructor(
    private readonly target: LiveTarget,
    private readonly cells: readonly PromptCell[],
  ) {
    this.measured = cells.map(() => []);
  }

  /** Measures each cell once more. */
  async round(): Promise<void> {
    for (const [i, cell] of this.cells.entries()) {
      const own = this.measured[i]!;
      const isIdle = cell.prefix > 0 && own.length > 0 && cachedOf(own, cell.prefix) === 0;
      if (!isIdle) own.push(await oneRound(this.target, cell));
    }
  }

  /** The measured points, one per cell. */
  points(): readonly PromptPoint[] {
    return this.measured.map((own, i) => pointOf(own, this.cells[i]!));
  }
}

async function oneRound(target: LiveTarget, { tokens, prefix }: PromptCell): Promise<Round> {
  if (prefix > 0) await target.run(onePrompt(prefix));
  const before = await target.counters();
  const { answers, failures } = await target.run(onePrompt(tokens), prefix > 0);
  const [answer] = answers;
  if (answer === undefined) throw failed(failures);
  return { answer, ...gainsBetween(before, before && (await target.counters())) };
}

export function onePrompt(tokens: number): Workload {
  const builder = new WorkloadBuilder();
  builder.add({ arrivalUs: 0, promptTokens: tokens, outputTokens: 1 });
  return builder.build();
}

/** The gains of the counters by one request. */
function gainsBetween(
  before: Counters | undefined,
  after: Counters | undefined,
): Omit<Round, 'answer'> {
  const none = { enginePrefillMs: undefined, transferMs: undefined };
  if (before === undefined || after === undefined) return { parts: {}, ...none };
  const transfers = after.transferSeconds.count - before.transferSeconds.count;
  const gained = after.transferSeconds.sum - before.transferSeconds.sum;
  return {
    parts: Object.fromEntries(
      PARTS.flatMap((part) => {
        const ms = onlyNewMs(before.parts[part], after.parts[part]);
        return ms === undefined ? [] : [[part, ms]];
      }),
    ),
    enginePrefillMs: onlyNewMs(before.prefillSeconds, after.prefillSeconds),
    // Ranks read in parallel.
    transferMs: transfers > 0 ? (gained / transfers) * 1_000 : undefined,
  };
}

function pointOf(rounds: readonly Round[], { prefix }: PromptCell): PromptPoint {
  const of = (value: (round: Round) => number | undefined): number | undefined => {
    const known = rounds.flatMap((round) => value(round) ?? []);
    // Under load the metrics of a part can arrive too late. Most rounds have them.
    return 2 * known.length > rounds.length ? median(known) : undefined;
  };
  const parts = PARTS.flatMap((part) => {
    const ms = of((round) => round.parts[part]);
    return ms === undefined ? [] : [[part, ms] as const];
  });
  return {
    tokens: median(rounds.map(({ answer }) => answer.inputTokens)),
    cached: cachedOf(rounds, prefix),
    ttftMs: median(rounds.map(({ answer }) => answer.ttftMs)),
    roundsMs: rounds.map(({ answer }) => answer.ttftMs),
    parts: Object.fromEntries(parts),
    enginePrefillMs: of(({ enginePrefillMs }) => enginePrefillMs),
    transferMs: of(({ transferMs }) => transferMs),
  };
}

/**
 * Servers also count tokens from another engine as cached. Then the count does not show the prefix.
 */
function cachedOf(rounds: readonly Round[], prefix: number): number {
  const reported = median(rounds.map(({ answer }) => answer.cachedTokens));
  return reported <= prefix ? reported : 0;
}

/** Throws the error for a request that the measurement cannot do without. */
export function failed(failures: readonly { error: string; example: string }[]): Failure {
  const [first] = failures;
  const why = first === undefined ? 'it was cancelled' : `${first.error}: ${first.example}`;
  return new Failure(`A request of the measurement failed: ${why}`);
}
