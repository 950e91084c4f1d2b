import { processMsOf } from '@baton/clock';
import { type BatonConfig, servedNamesOf, vllmMinorOf } from '@baton/config';
import type { BatonError, EndReason, EnginePresence, FrameHeader } from '@baton/contract';
import { readNumber } from '@baton/telemetry';
import { Injectable } from '@nestjs/common';
import { Counter, type Histogram, Registry } from 'prom-client';
import { ModelCatalog } from '../../cluster/model-catalog';
import { Config } from '../../tokens';
import type {
  End,
  ObservedCall,
  ObservedRequest,
  ObservedSequence,
  RequestEnd,
  RequestObserver,
  TokenNews,
} from '../port/port';
import { LiveSequences } from '../port/state';
import {
  FINISHED_REASONS,
  firstTokenParts,
  requestHistograms,
  type TracedHistogram,
  tracedObserver,
  TTFT_PARTS,
} from './request-families';

interface Choices {
  readonly left: number;
  /** Tokens of the longest choice that has ended. */
  readonly longest: number;
}

/** The first y of vLLM 0.y that counts refusals for a full queue, and its reasons. */
const REJECTIONS_SINCE_MINOR = 32;
const REJECTION_REASONS = ['max_num_queued_reqs', 'max_num_queued_tokens'] as const;

/** Limit of engines with their own series; what further engines do is not shown. */
const MAX_ENGINES = 4_096;

/**
 * The front's own observations: latencies on the wall clock as a client next to this process would
 * see them, per engine that sent the last frame (`engine_id`, which a scrape replaces by the
 * engine's labels).
 */
@Injectable()
export class RequestMetrics implements RequestObserver {
  private readonly histograms: ReturnType<typeof requestHistograms>;
  private readonly observe: ReturnType<typeof tracedObserver>;
  private readonly parts: ReturnType<typeof firstTokenParts>;
  private readonly counters: ReturnType<typeof requestCounters>;
  /** The engines with series, by id. */
  private readonly engines = new Map<string, EngineLabel>();
  /** Prompts with ended choices, by their place in the answer. */
  private readonly unfinished = new WeakMap<ObservedRequest, Map<number, Choices>>();
  private readonly rejections: Counter<'model_name' | 'reason'> | undefined;
  private readonly modelName: string;
  private endedSequences = 0;

  constructor(
    private readonly config: Config,
    catalog: ModelCatalog,
    private readonly live: LiveSequences,
    registry: Registry,
  ) {
    this.histograms = requestHistograms(registry, catalog.maxModelLen);
    this.observe = tracedObserver(registry);
    this.parts = firstTokenParts(registry);
    this.counters = requestCounters(registry);
    this.modelName = servedNamesOf(config)[0];
    this.rejections = rejectionsIn(registry, config, this.modelName);
    this.showConservation(registry);
  }

  /** From now on these engines have all their series, as 0. */
  show(engines: readonly EnginePresence[]): void {
    for (const { engineId } of engines) this.of(engineId);
  }

  tokens(sequence: ObservedSequence, news: TokenNews): void {
    const { from, nowMs, header, stampedUs, previousMs } = news;
    const { histograms } = this;
    const engine = this.of(header.engineId);
    let { count } = news;
    if (from === 0) {
      const value = sequence.history.ttftMs / 1_000;
      const { traceparent } = sequence.job;
      this.observe(histograms.timeToFirstToken, { labels: engine, value, traceparent });
      histograms.firstTokenOverhead.observe(engine, lateSeconds(nowMs, stampedUs));
      observeParts(sequence, this.parts, engine);
      count -= 1;
    }
    const gapMs = from === 0 ? 0 : nowMs - previousMs;
    const gapSeconds = gapMs / 1_000 / Math.max(count, 1);
    for (; count > 0; count -= 1) histograms.interTokenLatency.observe(engine, gapSeconds);
  }

  refused(_call: ObservedCall, { code }: BatonError): void {
    if (code !== 'queue_full') return;
    this.rejections?.inc({ model_name: this.modelName, reason: 'max_num_queued_reqs' });
  }

  /** Once per prompt, when the last of its choices has ended. */
  private choiceEnded(
    { index, received }: ObservedSequence,
    request: ObservedRequest,
    engine: EngineLabel,
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
    this.histograms.choices.observe(engine, choices);
    this.histograms.maxGenerationTokens.observe(engine, now.longest);
  }

  written(header: FrameHeader): void {
    const late = lateSeconds(performance.now(), header.stepEndUs);
    this.histograms.frameDelay.observe(this.of(header.engineId), late);
  }

  ended(sequence: ObservedSequence, { reason }: End, request: ObservedRequest): void {
    const engine = this.of(sequence.engineId ?? '');
    const { histograms, counters } = this;
    this.endedSequences += 1;
    counters.success.inc({ ...engine, finished_reason: reason });
    if (this.isGood(sequence, reason)) counters.good.inc(engine);
    const { received, history } = sequence;
    const { arrivalMs, firstStepMs, firstTokenMs, lastTokenMs } = history;
    const { traceparent } = sequence.job;
    const observe = (histogram: TracedHistogram, value: number): void =>
      this.observe(histogram, { labels: engine, value, traceparent });
    observe(histograms.endToEnd, (performance.now() - arrivalMs) / 1_000);
    histograms.promptTokens.observe(engine, sequence.job.promptTokens);
    histograms.generationTokens.observe(engine, received);
    histograms.maxTokens.observe(engine, sequence.job.maxTokens);
    this.choiceEnded(sequence, request, engine);
    if (firstStepMs > 0) histograms.queue.observe(engine, seconds(arrivalMs, firstStepMs));
    if (received === 0) return;
    const decodeSeconds = (lastTokenMs - firstTokenMs) / 1_000;
    const perToken = received > 1 ? decodeSeconds / (received - 1) : 0;
    histograms.decode.observe(engine, decodeSeconds);
    observe(histograms.timePerOutputToken, perToken);
    const startMs = firstStepMs > 0 ? firstStepMs : arrivalMs;
    histograms.prefill.observe(engine, (firstTokenMs - startMs) / 1_000);
    histograms.inference.observe(engine, (lastTokenMs - startMs) / 1_000);
  }

  closed(_request: ObservedRequest, { isSlowReader }: RequestEnd): void {
    if (isSlowReader) this.counters.slowReaders.inc();
  }

  /** Every sequence opened at this front has ended or is under way. */
  private showConservation(registry: Registry): void {
    const { live } = this;
    readNumber(registry, {
      name: 'baton:sequences_opened_total',
      help: 'Sequences that this API process let in.',
      type: 'counter',
      read: () => live.opened,
    });
    readNumber(registry, {
      name: 'baton:sequences_ended_total',
      help: 'Of these, those that have ended.',
      type: 'counter',
      read: () => this.endedSequences,
    });
    readNumber(registry, {
      name: 'baton:sequences_unaccounted',
      help: 'Sequences let in that have neither ended nor are under way; 0 unless one was lost.',
      type: 'gauge',
      aggregator: 'first',
      read: () => live.opened - this.endedSequences - live.size,
    });
  }

  private isGood({ received, history }: ObservedSequence, reason: EndReason): boolean {
    const { firstTokenMs, lastTokenMs, ttftMs } = history;
    if (received === 0 || (reason !== 'stop' && reason !== 'length')) return false;
    const perTokenMs = received > 1 ? (lastTokenMs - firstTokenMs) / (received - 1) : 0;
    return ttftMs <= this.config.goodputTtft && perTokenMs <= this.config.goodputTpot;
  }

  private of(engineId: string): EngineLabel {
    const known = this.engines.get(engineId);
    if (known !== undefined) return known;
    if (this.engines.size >= MAX_ENGINES) return UNKNOWN;
    const engine = { engine_id: engineId };
    this.engines.set(engineId, engine);
    for (const histogram of Object.values(this.histograms)) histogram.zero(engine);
    for (const part of TTFT_PARTS) this.parts.zero({ ...engine, part });
    for (const reason of FINISHED_REASONS) {
      this.counters.success.inc({ ...engine, finished_reason: reason }, 0);
    }
    this.counters.good.inc(engine, 0);
    return engine;
  }
}

interface EngineLabel {
  readonly engine_id: string;
}

const UNKNOWN: EngineLabel = { engine_id: '' };

function requestCounters(registry: Registry) {
  const registers = [registry];
  return {
    success: new Counter({
      name: 'vllm:request_success_total',
      help: 'Count of successfully processed requests.',
      labelNames: ['engine_id', 'finished_reason'],
      registers,
    }),
    good: new Counter({
      name: 'baton:requests_good_total',
      help: 'Requests that ended with their answer, within goodput_ttft and goodput_tpot.',
      labelNames: ['engine_id'],
      registers,
    }),
    slowReaders: new Counter({
      name: 'baton:slow_readers_total',
      help: 'Answers given up because their client did not read them.',
      registers,
    }),
  };
}

/** Undefined for a vLLM without it. */
function rejectionsIn(
  registry: Registry,
  config: BatonConfig,
  modelName: string,
): Counter<'model_name' | 'reason'> | undefined {
  if (vllmMinorOf(config) < REJECTIONS_SINCE_MINOR) return undefined;
  const counter = new Counter({
    name: 'vllm:admission_rejections_total',
    help: 'Number of admission attempts rejected by a queue limit, by reason.',
    labelNames: ['model_name', 'reason'],
    registers: [registry],
  });
  for (const reason of REJECTION_REASONS) counter.inc({ model_name: modelName, reason }, 0);
  return counter;
}

/** Observes the parts of the time to the first token, which add up to it. */
function observeParts(
  { job, history }: ObservedSequence,
  parts: Histogram<'engine_id' | 'part'>,
  engine: EngineLabel,
): void {
  const { arrivalMs, firstStepMs, firstTokenMs, heldUs, decodeUs } = history;
  if (firstStepMs === 0) return;
  const observe = (part: (typeof TTFT_PARTS)[number], fromMs: number, toMs: number): void =>
    parts.observe({ ...engine, part }, seconds(fromMs, toMs));
  observe('queue', arrivalMs, firstStepMs);
  if (job.flow !== 'route' || heldUs === undefined || decodeUs === undefined) {
    observe('prefill', firstStepMs, firstTokenMs);
    return;
  }
  const [heldMs, decodeMs] = [processMsOf(heldUs), processMsOf(decodeUs)];
  observe('prefill', firstStepMs, heldMs);
  observe('transfer', heldMs, decodeMs);
  observe('first_step', decodeMs, firstTokenMs);
}

/** Clocks of two machines may disagree; no time is negative. */
function seconds(fromMs: number, toMs: number): number {
  return Math.max(0, (toMs - fromMs) / 1_000);
}

/** Seconds from the simulated instant until now, at least 0. */
function lateSeconds(nowMs: number, simulatedUs: number): number {
  return Math.max(0, (performance.timeOrigin + nowMs) / 1_000 - simulatedUs / 1_000_000);
}
