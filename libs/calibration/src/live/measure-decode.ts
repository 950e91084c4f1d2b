import { median } from '@baton/kernel';
import { WorkloadBuilder } from '@baton/workload';
import { type ConstantBatch, constantBatch } from './constant-batch';
import { failed } from './measure-prompts';
import type { Answered, LiveTarget } from './target';

/** Decode steps of an unchanged batch: medians over the rounds, ms. */
export interface DecodePoint {
  readonly sequences: number;
  /** Tokens that one sequence attends to. */
  readonly context: number;
  readonly stepMs: number;
  readonly roundsMs: readonly number[];
  /** Mean gap / fitted gap. Pauses make it larger than 1. */
  readonly pauses: number;
  /** Median gap / fitted gap. Below 1 where most gaps are short and some are long. */
  readonly typical: number;
}

export interface DecodeCell {
  readonly batch: number;
  readonly context: number;
}

/** Minimum number of gaps of each stream in a round. */
const WANTED_GAPS = 32;
const FEWEST_GAPS = 18;
/** Maximum output length of a request, tokens. */
const MOST_TOKENS = 2_048;
const MOST_TRIES = 5;

/** Starts streams together, and measures the gaps between their tokens while all of them decode. */
export class DecodeRounds {
  private readonly batches: readonly BatchRounds[];

  constructor({ target, cells, engines, longest }: DecodeRoundsOptions) {
    this.batches = cells.map(({ batch, context }) => {
      const most = Math.min(MOST_TOKENS, longest - context);
      const streams = batch * engines;
      return new BatchRounds(target, { cell: { batch, context }, streams, most });
    });
  }

  /** Measures each cell once more. */
  async round(): Promise<void> {
    for (const batch of this.batches) await batch.round();
  }

  points(): readonly DecodePoint[] {
    return this.batches.flatMap((batch) => batch.point() ?? []);
  }

  /** Sentences about cells without a point. */
  leftOut(): readonly string[] {
    return this.batches.flatMap(({ leftOut }) => leftOut ?? []);
  }
}

export interface DecodeRoundsOptions {
  readonly target: LiveTarget;
  readonly cells: readonly DecodeCell[];
  /** Number of decoding engines. Each is assumed to get its share of the streams. */
  readonly engines: number;
  /** Maximum sum of prompt and output, tokens. */
  readonly longest: number;
}

/** The rounds of one cell. */
class BatchRounds {
  private readonly seen: ConstantBatch[] = [];
  private tokens: number;
  private tries = 0;
  leftOut: string | undefined;

  constructor(
    private readonly target: LiveTarget,
    private readonly of: {
      readonly cell: DecodeCell;
      readonly streams: number;
      /** Maximum output length, tokens. */
      readonly most: number;
    },
  ) {
    this.tokens = Math.min(of.most, WANTED_GAPS + 1 + 2 * of.streams);
    if (this.tokens < FEWEST_GAPS + 1) this.leaveOut('its prompt leaves no room for an output');
  }

  async round(): Promise<void> {
    const { most } = this.of;
    while (this.leftOut === undefined) {
      const answers = await burst(this.target, { ...this.of, tokens: this.tokens });
      const window = constantBatch(answers);
      if (window !== undefined && window.gaps >= FEWEST_GAPS) {
        this.seen.push(window);
        return;
      }
      this.tries += 1;
      const longer = Math.min(most, longEnough(answers, this.tokens));
      if (this.tries === MOST_TRIES || longer <= this.tokens) {
        const { tokens } = this;
        this.leaveOut(`its streams do not decode together long enough with ${tokens} tokens each`);
      }
      this.tokens = longer;
    }
  }

  point(): DecodePoint | undefined {
    const { seen, leftOut } = this;
    if (leftOut !== undefined || seen.length === 0) return undefined;
    return {
      sequences: this.of.cell.batch,
      context: median(seen.map((window) => window.context)),
      stepMs: median(seen.map(({ stepMs }) => stepMs)),
      roundsMs: seen.map(({ stepMs }) => stepMs),
      pauses: median(seen.map(({ meanMs, stepMs }) => meanMs / stepMs)),
      typical: median(seen.map(({ medianMs, stepMs }) => medianMs / stepMs)),
    };
  }

  private leaveOut(why: string): void {
    const { batch, context } = this.of.cell;
    this.leftOut = `decode of ${batch} × ${context} tokens is left out: ${why}`;
  }
}

async function burst(
  target: LiveTarget,
  {
    cell,
    streams,
    tokens,
  }: {
    readonly cell: DecodeCell;
    readonly streams: number;
    readonly tokens: number;
  },
): Promise<readonly Answered[]> {
  const builder = new WorkloadBuilder();
  for (let i = 0; i < streams; i++) {
    builder.add({ arrivalUs: 0, promptTokens: cell.context, outputTokens: tokens });
  }
  const { answers, failures } = await target.run(builder.build());
  const whole = answers.filter((answer) => answer !== undefined);
  if (whole.length < streams) throw failed(failures);
  return whole;
}

/**
 * Output length: the tokens of the first stream until the last one's prompt is computed, and those
 * to measure.
 */
function longEnough(answers: readonly Answered[], tokens: number): number {
  const firsts = answers.map(({ startMs, ttftMs }) => startMs + ttftMs);
  const staggerMs = Math.max(...firsts) - Math.min(...firsts);
  const [first] = answers.toSorted((a, b) => a.startMs + a.ttftMs - (b.startMs + b.ttftMs));
  const gapMs = median(Array.from(first?.gapsMs ?? []));
  const meanwhile = gapMs > 0 ? Math.ceil(staggerMs / gapMs) : tokens;
  return Math.max(2 * tokens, meanwhile + WANTED_GAPS);
}
