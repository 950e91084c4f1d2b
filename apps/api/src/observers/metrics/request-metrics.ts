import type { BatonConfig } from '@baton/config';
import type { EnginePresence, FrameEntry, FrameHeader, HistogramSnapshot } from '@baton/contract';
import { BucketCounts, engineLabels, tokensUpTo } from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import type { Sequence, SequenceOwner } from '../../frames/sequence';
import { SequenceTable } from '../../frames/sequence-table';
import { CONFIG } from '../../tokens';
import { renderHistogram, renderNumbers, type Series } from './exposition';
import {
  FINISHED_REASONS,
  type FinishedReason,
  REQUEST_FAMILIES,
  type RequestFamily,
  type RequestFamilyKey,
} from './request-families';

const FAMILY_KEYS = Object.keys(REQUEST_FAMILIES) as RequestFamilyKey[];

/** Families by name: several keys may make one. */
const KEYS_BY_NAME = new Map<string, RequestFamilyKey[]>();
for (const key of FAMILY_KEYS) {
  const { name } = REQUEST_FAMILIES[key];
  KEYS_BY_NAME.set(name, [...(KEYS_BY_NAME.get(name) ?? []), key]);
}

/** What the front has observed of the requests that one engine finished. */
class EngineObservations {
  readonly histograms: Readonly<Record<RequestFamilyKey, BucketCounts>>;
  readonly finished: Record<FinishedReason, number> = {
    stop: 0,
    length: 0,
    abort: 0,
    error: 0,
    repetition: 0,
    cache_threshold: 0,
  };
  /** Of those finished, how many met both limits of goodput. */
  good = 0;

  constructor(maxModelLen: number) {
    this.histograms = Object.fromEntries(
      FAMILY_KEYS.map((key) => [key, new BucketCounts(bucketsOf(key, maxModelLen))]),
    ) as Record<RequestFamilyKey, BucketCounts>;
  }
}

export interface TokenNews {
  /** First new token. */
  readonly from: number;
  readonly header: FrameHeader;
  readonly offsetUs: number;
}

interface Choices {
  readonly left: number;
  /** Tokens of the longest that has ended. */
  readonly longest: number;
}

/** Engines of which observations are kept; more than that are counted under the first. */
const MAX_ENGINES = 4_096;

/**
 * The front's own observations: latencies on the wall clock as a client next to this process would see them, per engine that spoke last.
 * Called once per frame entry, so it only counts; a scrape renders.
 */
@Injectable()
export class RequestMetrics {
  private readonly byEngine = new Map<string, EngineObservations>();
  private readonly unobserved: EngineObservations;
  /** Prompts of which some choices have ended and others have not, by their place in the answer. */
  private readonly unfinished = new WeakMap<SequenceOwner, Map<number, Choices>>();
  private slowReaders = 0;
  private endedSequences = 0;

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    private readonly catalog: ModelCatalog,
    private readonly table: SequenceTable,
  ) {
    this.unobserved = new EngineObservations(catalog.maxModelLen);
  }

  /** The sequence entered a batch, or was handed over. Of one that runs more than once the last run counts. */
  noted(sequence: Sequence, entry: Readonly<FrameEntry>, header: FrameHeader): void {
    if (entry.kind === 'handed-over') {
      sequence.heldMs = localMs(sequence.job.arrivalUs + entry.first);
    } else if (entry.kind === 'scheduled') {
      // The entry comes when the step is over; it began so much earlier.
      const beganMs = localMs(header.stepEndUs - entry.first);
      if (header.stage === 'decode' && sequence.heldMs > 0) sequence.decodeMs = beganMs;
      else sequence.scheduledMs = beganMs;
    }
  }

  /** Tokens `[from, received)` of the sequence have just come. */
  tokens(sequence: Sequence, nowMs: number, { from, header, offsetUs }: TokenNews): void {
    const { histograms } = this.of(header.engineId);
    let count = sequence.received - from;
    const before = sequence.lastTokenMs;
    sequence.lastTokenMs = nowMs;
    if (from === 0) {
      histograms.timeToFirstToken.observe((nowMs - arrivalMs(sequence)) / 1_000);
      histograms.firstTokenOverhead.observe(lateSeconds(nowMs, header.stepEndUs + offsetUs));
      this.firstTokenParts(sequence, nowMs, histograms);
      count -= 1;
    }
    const gapSeconds = (nowMs - (from === 0 ? nowMs : before)) / 1_000 / Math.max(count, 1);
    for (; count > 0; count -= 1) histograms.interTokenLatency.observe(gapSeconds);
  }

  /** Once per prompt, when the last of its choices has ended. */
  private choiceEnded(
    { owner, index, received }: Sequence,
    choices: number,
    histograms: EngineObservations['histograms'],
  ): void {
    const prompts = this.unfinished.get(owner) ?? new Map<number, Choices>();
    const prompt = Math.floor(index / choices);
    const { left, longest } = prompts.get(prompt) ?? { left: choices, longest: 0 };
    const now = { left: left - 1, longest: Math.max(longest, received) };
    if (now.left > 0) {
      this.unfinished.set(owner, prompts.set(prompt, now));
      return;
    }
    prompts.delete(prompt);
    histograms.choices.observe(choices);
    histograms.maxGenerationTokens.observe(now.longest);
  }

  private firstTokenParts(
    sequence: Sequence,
    nowMs: number,
    histograms: EngineObservations['histograms'],
  ): void {
    const { scheduledMs, heldMs, decodeMs } = sequence;
    if (scheduledMs === 0) return;
    histograms.queuePart.observe(seconds(arrivalMs(sequence), scheduledMs));
    const isHandedOver = heldMs > 0 && decodeMs > 0;
    histograms.prefillPart.observe(seconds(scheduledMs, isHandedOver ? heldMs : nowMs));
    if (!isHandedOver) return;
    histograms.transferPart.observe(seconds(heldMs, decodeMs));
    histograms.firstStepPart.observe(seconds(decodeMs, nowMs));
  }

  /** All tokens of a frame are written. */
  frameWritten(header: FrameHeader): void {
    const late = lateSeconds(performance.now(), header.stepEndUs);
    this.of(header.engineId).histograms.frameDelay.observe(late);
  }

  ended(sequence: Sequence, choices: number, reason: FinishedReason): void {
    const observations = this.of(sequence.engineId ?? '');
    const { histograms, finished } = observations;
    this.endedSequences += 1;
    finished[reason] += 1;
    if (this.isGood(sequence, reason)) observations.good += 1;
    const endMs = performance.now();
    const { scheduledMs, firstTokenMs, lastTokenMs, received } = sequence;
    const arrivedMs = arrivalMs(sequence);
    histograms.endToEnd.observe((endMs - arrivedMs) / 1_000);
    histograms.promptTokens.observe(sequence.job.promptTokens);
    histograms.generationTokens.observe(received);
    histograms.maxTokens.observe(sequence.job.maxTokens);
    this.choiceEnded(sequence, choices, histograms);
    if (scheduledMs > 0) histograms.queue.observe(seconds(arrivedMs, scheduledMs));
    if (received === 0) return;
    const decodeSeconds = (lastTokenMs - firstTokenMs) / 1_000;
    histograms.decode.observe(decodeSeconds);
    histograms.timePerOutputToken.observe(received > 1 ? decodeSeconds / (received - 1) : 0);
    const startMs = scheduledMs > 0 ? scheduledMs : arrivedMs;
    histograms.prefill.observe((firstTokenMs - startMs) / 1_000);
    histograms.inference.observe((lastTokenMs - startMs) / 1_000);
  }

  countSlowReader(): void {
    this.slowReaders += 1;
  }

  /** The text of all families for these engines, zeros included. */
  render(engines: readonly EnginePresence[]): string {
    const seen = engines.map((engine) => ({
      labels: { ...engineLabels(engine), model_name: engine.model },
      value: this.byEngine.get(engine.engineId) ?? this.unobserved,
    }));
    const success: Series<number>[] = seen.flatMap(({ labels, value }) =>
      FINISHED_REASONS.map((reason) => ({
        labels: { ...labels, finished_reason: reason },
        value: value.finished[reason],
      })),
    );
    return [
      ...[...KEYS_BY_NAME.values()].map((keys) => renderFamily(keys, seen)),
      renderNumbers(
        {
          name: 'vllm:request_success_total',
          help: 'Count of successfully processed requests.',
        },
        'counter',
        success,
      ),
      renderNumbers(
        {
          name: 'baton:slow_readers_total',
          help: 'Answers given up because their client did not read them.',
        },
        'counter',
        [{ labels: {}, value: this.slowReaders }],
      ),
      renderNumbers(
        {
          name: 'baton:requests_good_total',
          help: 'Requests that ended with their answer, within goodput_ttft and goodput_tpot.',
        },
        'counter',
        seen.map(({ labels, value }) => ({ labels, value: value.good })),
      ),
      this.renderConservation(),
    ].join('');
  }

  /** Whatever was opened at this front has ended or is under way. */
  private renderConservation(): string {
    const { opened, size } = this.table;
    const single = (value: number): Series<number>[] => [{ labels: {}, value }];
    return [
      renderNumbers(
        { name: 'baton:sequences_opened_total', help: 'Sequences that this API process let in.' },
        'counter',
        single(opened),
      ),
      renderNumbers(
        { name: 'baton:sequences_ended_total', help: 'Of these, those that have ended.' },
        'counter',
        single(this.endedSequences),
      ),
      renderNumbers(
        {
          name: 'baton:sequences_unaccounted',
          help: 'Sequences let in that have neither ended nor are under way; 0 unless one was lost.',
        },
        'gauge',
        single(opened - this.endedSequences - size),
      ),
    ].join('');
  }

  private isGood(sequence: Sequence, reason: FinishedReason): boolean {
    const { firstTokenMs, lastTokenMs, received } = sequence;
    if (received === 0 || (reason !== 'stop' && reason !== 'length')) return false;
    const perTokenMs = received > 1 ? (lastTokenMs - firstTokenMs) / (received - 1) : 0;
    const ttftMs = firstTokenMs - arrivalMs(sequence);
    return ttftMs <= this.config.goodputTtft && perTokenMs <= this.config.goodputTpot;
  }

  private of(engineId: string): EngineObservations {
    const known = this.byEngine.get(engineId);
    if (known) return known;
    const fresh = new EngineObservations(this.catalog.maxModelLen);
    if (this.byEngine.size < MAX_ENGINES) this.byEngine.set(engineId, fresh);
    return fresh;
  }
}

function bucketsOf(key: RequestFamilyKey, maxModelLen: number): readonly number[] {
  const { buckets, endsAtModelLength }: RequestFamily = REQUEST_FAMILIES[key];
  return endsAtModelLength ? tokensUpTo(maxModelLen) : buckets;
}

function renderFamily(
  keys: readonly RequestFamilyKey[],
  seen: readonly Series<EngineObservations>[],
): string {
  const series = seen.flatMap(({ labels, value }) =>
    keys.map((key): Series<HistogramSnapshot> => {
      const { labels: own }: RequestFamily = REQUEST_FAMILIES[key];
      return { labels: { ...labels, ...own }, value: value.histograms[key].snapshot() };
    }),
  );
  return renderHistogram(REQUEST_FAMILIES[keys[0] as RequestFamilyKey], series);
}

/** An instant of the wall clock in ms of `performance.now()`. */
function localMs(wallUs: number): number {
  return wallUs / 1_000 - performance.timeOrigin;
}

function arrivalMs(sequence: Sequence): number {
  return localMs(sequence.job.arrivalUs);
}

/** Clocks of two machines may disagree; no time is negative. */
function seconds(fromMs: number, toMs: number): number {
  return Math.max(0, (toMs - fromMs) / 1_000);
}

/** How long after the simulated instant it is now, never less than 0. */
function lateSeconds(nowMs: number, simulatedUs: number): number {
  return Math.max(0, (performance.timeOrigin + nowMs) / 1_000 - simulatedUs / 1_000_000);
}
