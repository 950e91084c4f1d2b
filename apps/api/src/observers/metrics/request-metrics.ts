import { processMsOf } from '@baton/clock';
import type { BatonConfig } from '@baton/config';
import type { EndReason, EnginePresence, FrameHeader, HistogramSnapshot } from '@baton/contract';
import {
  BucketCounts,
  engineLabels,
  type MetricSeries,
  renderHistogram,
  renderNumbers,
  tokensUpTo,
} from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { CONFIG } from '../../tokens';
import type {
  End,
  ObservedRequest,
  ObservedSequence,
  RequestEnd,
  RequestObserver,
  TokenNews,
} from '../port/port';
import { LiveSequences } from '../port/state';
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

/** Counters and histograms of the requests that one engine finished. */
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
  /** Finished requests that met both limits of goodput. */
  good = 0;

  constructor(maxModelLen: number) {
    this.histograms = Object.fromEntries(
      FAMILY_KEYS.map((key) => [key, new BucketCounts(bucketsOf(key, maxModelLen))]),
    ) as Record<RequestFamilyKey, BucketCounts>;
  }
}

type Histograms = EngineObservations['histograms'];

interface Choices {
  readonly left: number;
  /** Tokens of the longest choice that has ended. */
  readonly longest: number;
}

/** Limit of engines with their own observations; further engines count under the first. */
const MAX_ENGINES = 4_096;

/**
 * The front's own observations: latencies on the wall clock as a client next to this process would
 * see them, per engine that sent the last frame. It only counts; a scrape renders.
 */
@Injectable()
export class RequestMetrics implements RequestObserver {
  private readonly byEngine = new Map<string, EngineObservations>();
  private readonly unobserved: EngineObservations;
  /** Prompts with ended choices, by their place in the answer. */
  private readonly unfinished = new WeakMap<ObservedRequest, Map<number, Choices>>();
  private slowReaders = 0;
  private endedSequences = 0;

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    private readonly catalog: ModelCatalog,
    private readonly live: LiveSequences,
  ) {
    this.unobserved = new EngineObservations(catalog.maxModelLen);
  }

  tokens(sequence: ObservedSequence, news: TokenNews): void {
    const { from, nowMs, header, stampedUs, previousMs } = news;
    const { histograms } = this.of(header.engineId);
    let { count } = news;
    if (from === 0) {
      histograms.timeToFirstToken.observe(sequence.history.ttftMs / 1_000);
      histograms.firstTokenOverhead.observe(lateSeconds(nowMs, stampedUs));
      observeParts(sequence, histograms);
      count -= 1;
    }
    const gapMs = from === 0 ? 0 : nowMs - previousMs;
    const gapSeconds = gapMs / 1_000 / Math.max(count, 1);
    for (; count > 0; count -= 1) histograms.interTokenLatency.observe(gapSeconds);
  }

  /** Once per prompt, when the last of its choices has ended. */
  private choiceEnded(
    { index, received }: ObservedSequence,
    request: ObservedRequest,
    histograms: Histograms,
  ): void {
    const { choices } = request.generation;
    const prompts = this.unfinished.get(request) ?? new Map<number, Choices>();
    const prompt = Math.floor(index / choices);
    const { left, longest } = prompts.get(prompt) ?? { left: choices, longest: 0 };
    const now = { left: left - 1, longest: Math.max(longest, received) };
    if (now.left > 0) {
      this.unfinished.set(request, prompts.set(prompt, now));
      return;
    }
    prompts.delete(prompt);
    histograms.choices.observe(choices);
    histograms.maxGenerationTokens.observe(now.longest);
  }

  written(header: FrameHeader): void {
    const late = lateSeconds(performance.now(), header.stepEndUs);
    this.of(header.engineId).histograms.frameDelay.observe(late);
  }

  ended(sequence: ObservedSequence, { reason }: End, request: ObservedRequest): void {
    const observations = this.of(sequence.engineId ?? '');
    const { histograms, finished } = observations;
    this.endedSequences += 1;
    finished[reason] += 1;
    if (this.isGood(sequence, reason)) observations.good += 1;
    const { received, history } = sequence;
    const { arrivalMs, firstStepMs, firstTokenMs, lastTokenMs } = history;
    histograms.endToEnd.observe((performance.now() - arrivalMs) / 1_000);
    histograms.promptTokens.observe(sequence.job.promptTokens);
    histograms.generationTokens.observe(received);
    histograms.maxTokens.observe(sequence.job.maxTokens);
    this.choiceEnded(sequence, request, histograms);
    if (firstStepMs > 0) histograms.queue.observe(seconds(arrivalMs, firstStepMs));
    if (received === 0) return;
    const decodeSeconds = (lastTokenMs - firstTokenMs) / 1_000;
    histograms.decode.observe(decodeSeconds);
    histograms.timePerOutputToken.observe(received > 1 ? decodeSeconds / (received - 1) : 0);
    const startMs = firstStepMs > 0 ? firstStepMs : arrivalMs;
    histograms.prefill.observe((firstTokenMs - startMs) / 1_000);
    histograms.inference.observe((lastTokenMs - startMs) / 1_000);
  }

  closed(_request: ObservedRequest, { isSlowReader }: RequestEnd): void {
    if (isSlowReader) this.slowReaders += 1;
  }

  /** The text of all families for these engines, zeros included. */
  render(engines: readonly EnginePresence[]): string {
    const seen = engines.map((engine) => ({
      labels: { ...engineLabels(engine), model_name: engine.model },
      value: this.byEngine.get(engine.engineId) ?? this.unobserved,
    }));
    const success: MetricSeries<number>[] = seen.flatMap(({ labels, value }) =>
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

  /** Every request opened at this front has ended or is under way. */
  private renderConservation(): string {
    const { opened, size } = this.live;
    const single = (value: number): MetricSeries<number>[] => [{ labels: {}, value }];
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
          help:
            'Sequences let in that have neither ended nor are under way; 0 unless one was ' +
            'lost.',
        },
        'gauge',
        single(opened - this.endedSequences - size),
      ),
    ].join('');
  }

  private isGood({ received, history }: ObservedSequence, reason: EndReason): boolean {
    const { firstTokenMs, lastTokenMs, ttftMs } = history;
    if (received === 0 || (reason !== 'stop' && reason !== 'length')) return false;
    const perTokenMs = received > 1 ? (lastTokenMs - firstTokenMs) / (received - 1) : 0;
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
  seen: readonly MetricSeries<EngineObservations>[],
): string {
  const series = seen.flatMap(({ labels, value }) =>
    keys.map((key): MetricSeries<HistogramSnapshot> => {
      const { labels: own }: RequestFamily = REQUEST_FAMILIES[key];
      return { labels: { ...labels, ...own }, value: value.histograms[key].snapshot() };
    }),
  );
  return renderHistogram(REQUEST_FAMILIES[keys[0] as RequestFamilyKey], series);
}

/** Observes the parts of the time to the first token, which add up to it. */
function observeParts({ job, history }: ObservedSequence, histograms: Histograms): void {
  const { arrivalMs, firstStepMs, firstTokenMs, heldUs, decodeUs } = history;
  if (firstStepMs === 0) return;
  histograms.queuePart.observe(seconds(arrivalMs, firstStepMs));
  if (job.flow !== 'route' || heldUs === undefined || decodeUs === undefined) {
    histograms.prefillPart.observe(seconds(firstStepMs, firstTokenMs));
    return;
  }
  const [heldMs, decodeMs] = [processMsOf(heldUs), processMsOf(decodeUs)];
  histograms.prefillPart.observe(seconds(firstStepMs, heldMs));
  histograms.transferPart.observe(seconds(heldMs, decodeMs));
  histograms.firstStepPart.observe(seconds(decodeMs, firstTokenMs));
}

/** Clocks of two machines may disagree; no time is negative. */
function seconds(fromMs: number, toMs: number): number {
  return Math.max(0, (toMs - fromMs) / 1_000);
}

/** Seconds from the simulated instant until now, at least 0. */
function lateSeconds(nowMs: number, simulatedUs: number): number {
  return Math.max(0, (performance.timeOrigin + nowMs) / 1_000 - simulatedUs / 1_000_000);
}
