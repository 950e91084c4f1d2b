import type { EnginePresence, FrameHeader } from '@baton/contract';
import { BucketCounts, engineLabels } from '@baton/runtime';
import { Injectable } from '@nestjs/common';
import type { Sequence } from '../sequences/sequence';
import { renderHistogram, renderNumbers, type Series } from './exposition';
import {
  FINISHED_REASONS,
  type FinishedReason,
  REQUEST_FAMILIES,
  type RequestFamilyKey,
} from './request-families';

const FAMILY_KEYS = Object.keys(REQUEST_FAMILIES) as RequestFamilyKey[];

/** What the front has observed of the requests that one engine finished. */
class EngineObservations {
  readonly histograms = Object.fromEntries(
    FAMILY_KEYS.map((key) => [key, new BucketCounts(REQUEST_FAMILIES[key].buckets)]),
  ) as Record<RequestFamilyKey, BucketCounts>;
  readonly finished: Record<FinishedReason, number> = {
    stop: 0,
    length: 0,
    abort: 0,
    error: 0,
    repetition: 0,
    cache_threshold: 0,
  };
}

export interface TokenNews {
  /** First new token. */
  readonly from: number;
  readonly header: FrameHeader;
  readonly offsetUs: number;
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
  private slowReaders = 0;

  /** Tokens `[from, received)` of the sequence have just come. */
  tokens(sequence: Sequence, nowMs: number, { from, header, offsetUs }: TokenNews): void {
    const { histograms } = this.of(header.engineId);
    let count = sequence.received - from;
    const before = sequence.lastTokenMs;
    sequence.lastTokenMs = nowMs;
    if (from === 0) {
      histograms.timeToFirstToken.observe((nowMs - arrivalMs(sequence)) / 1_000);
      histograms.firstTokenOverhead.observe(lateSeconds(nowMs, header.stepEndUs + offsetUs));
      count -= 1;
    }
    const gapSeconds = (nowMs - (from === 0 ? nowMs : before)) / 1_000 / Math.max(count, 1);
    for (; count > 0; count -= 1) histograms.interTokenLatency.observe(gapSeconds);
  }

  /** All tokens of a frame are written. */
  frameWritten(header: FrameHeader): void {
    const late = lateSeconds(performance.now(), header.stepEndUs);
    this.of(header.engineId).histograms.frameDelay.observe(late);
  }

  ended(sequence: Sequence, choices: number, reason: FinishedReason): void {
    const { histograms, finished } = this.of(sequence.engineId ?? '');
    finished[reason] += 1;
    const endMs = performance.now();
    const { scheduledMs, firstTokenMs, lastTokenMs, received } = sequence;
    const arrivedMs = arrivalMs(sequence);
    histograms.endToEnd.observe((endMs - arrivedMs) / 1_000);
    histograms.promptTokens.observe(sequence.job.promptTokens);
    histograms.generationTokens.observe(received);
    histograms.maxGenerationTokens.observe(sequence.job.maxTokens);
    histograms.maxTokens.observe(sequence.job.maxTokens);
    histograms.choices.observe(choices);
    if (scheduledMs > 0) histograms.queue.observe((scheduledMs - arrivedMs) / 1_000);
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
      value: this.byEngine.get(engine.engineId) ?? UNOBSERVED,
    }));
    const success: Series<number>[] = seen.flatMap(({ labels, value }) =>
      FINISHED_REASONS.map((reason) => ({
        labels: { ...labels, finished_reason: reason },
        value: value.finished[reason],
      })),
    );
    return [
      ...FAMILY_KEYS.map((key) =>
        renderHistogram(
          REQUEST_FAMILIES[key],
          seen.map(({ labels, value }) => ({ labels, value: value.histograms[key].snapshot() })),
        ),
      ),
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
    ].join('');
  }

  private of(engineId: string): EngineObservations {
    const known = this.byEngine.get(engineId);
    if (known) return known;
    const fresh = new EngineObservations();
    if (this.byEngine.size < MAX_ENGINES) this.byEngine.set(engineId, fresh);
    return fresh;
  }
}

const UNOBSERVED = new EngineObservations();

function arrivalMs(sequence: Sequence): number {
  return sequence.job.arrivalUs / 1_000 - performance.timeOrigin;
}

/** How long after the simulated instant it is now, never less than 0. */
function lateSeconds(nowMs: number, simulatedUs: number): number {
  return Math.max(0, (performance.timeOrigin + nowMs) / 1_000 - simulatedUs / 1_000_000);
}
