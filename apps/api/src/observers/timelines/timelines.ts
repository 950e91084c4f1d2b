import { randomUUID } from 'node:crypto';
import type { BatonConfig } from '@baton/config';
import type {
  EndReason,
  EngineFacts,
  ErrorCode,
  FrameEntry,
  FrameHeader,
  RequestTimeline,
} from '@baton/contract';
import type { AnswerHead } from '@baton/openai';
import type { Logger } from '@baton/telemetry';
import { channels, type Transport, type Unsubscribe } from '@baton/transport';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ClusterView } from '../../cluster/cluster-view';
import type { Sequence } from '../../frames/sequence';
import type { Call } from '../../request/take/call';
import { API_IDENTITY, type ApiIdentity, CONFIG, LOGGER, TRANSPORT } from '../../tokens';
import type { TokenNews } from '../metrics/request-metrics';
import type { RequestTrace } from './request-trace';
import { SequenceTrace } from './sequence-trace';
import { timelineOf } from './timeline-document';
import { TraceStore } from './trace-store';

/** How long other API processes have to say that a request is theirs. */
const ANSWER_WITHIN_MS = 400;

/** What is known of a request when its jobs are about to be submitted. */
export interface OpenedRequest {
  readonly id: string;
  readonly requestId: string;
  readonly model: string;
  readonly endpoint: string;
  readonly arrivalUs: number;
}

interface Live {
  readonly request: RequestTrace;
  readonly trace: SequenceTrace;
}

interface Question {
  readonly id: string;
  readonly replyTo: string;
}

/**
 * Remembers what happened to each request and tells it when asked: its own at once, those of other API processes after a question to all of them. It hears what the
 * front hears of each sequence anyway, and once per request what its engines did. With `timeline_max_entries` 0 every call returns at once.
 */
@Injectable()
export class Timelines implements OnApplicationShutdown, OnModuleInit {
  private readonly live = new Map<Sequence, Live>();
  private readonly store: TraceStore;
  private readonly isOn: boolean;
  private readonly unsubscribe: Unsubscribe[] = [];

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(TRANSPORT) private readonly transport: Transport,
    @Inject(API_IDENTITY) private readonly identity: ApiIdentity,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly cluster: ClusterView,
  ) {
    const { timelineMaxEntries: maxEntries, timelineTtl } = config;
    this.isOn = maxEntries > 0;
    this.store = new TraceStore({ maxEntries, ttlMs: timelineTtl * 1_000 });
  }

  async onModuleInit(): Promise<void> {
    if (!this.isOn) return;
    const { bus } = this.transport;
    const told = (payload: Buffer): void => this.told(parsed<EngineFacts>(payload));
    this.unsubscribe.push(
      await bus.subscribe(channels.timelines(this.identity.apiId), told),
      await bus.subscribe(channels.timelineQuestions, (payload) =>
        this.answer(parsed<Question>(payload)),
      ),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    for (const end of this.unsubscribe.splice(0)) await end().catch(() => undefined);
  }

  opened(sequences: readonly Sequence[], request: OpenedRequest): void {
    if (!this.isOn) return;
    const traces = sequences.map(
      ({ job, index }) => new SequenceTrace(job, index, request.endpoint),
    );
    const trace: RequestTrace = { ...request, sequences: traces, endedMs: undefined };
    for (const [index, sequence] of sequences.entries()) {
      this.live.set(sequence, { request: trace, trace: traces[index]! });
    }
    this.store.add(trace);
  }

  /** It entered a batch for the first time, or was handed over. */
  noted(sequence: Sequence, entry: Readonly<FrameEntry>, header: FrameHeader): void {
    this.live.get(sequence)?.trace.noted(sequence, entry, header);
  }

  /** Tokens of the sequence have just come. */
  tokens(sequence: Sequence, _nowMs: number, { header, offsetUs }: TokenNews): void {
    this.live.get(sequence)?.trace.tokens(sequence.received, header.stepEndUs + offsetUs);
  }

  /** Called once for each sequence that was opened. */
  ended(sequence: Sequence, reason: EndReason, error?: ErrorCode): void {
    const live = this.live.get(sequence);
    if (live === undefined) return;
    this.live.delete(sequence);
    live.trace.ended(sequence, { reason, error, atUs: wallUs() });
    this.store.settle(live.request, performance.now());
  }

  /** The engine that has taken the sequence for its first stage, as far as it is known by now. */
  takenBy(sequence: Sequence): string | undefined {
    const stages = this.live.get(sequence)?.trace.stages;
    return stages?.get('prefill')?.engineId ?? stages?.get('aggregated')?.engineId;
  }

  /** The timeline of a request, wherever it came in; undefined when nobody knows it. */
  async find(id: string): Promise<RequestTimeline | undefined> {
    return this.own(id) ?? (this.isOn ? this.ask(id) : undefined);
  }

  private own(id: string): RequestTimeline | undefined {
    const request = this.store.find(id, performance.now());
    if (request === undefined) return undefined;
    const { speedup } = this.config;
    const indexOf = (engineId: string): number | null => this.cluster.find(engineId)?.index ?? null;
    return timelineOf(request, { api: this.identity.apiId, speedup, nowUs: wallUs(), indexOf });
  }

  private async ask(id: string): Promise<RequestTimeline | undefined> {
    const { bus, isConnected } = this.transport;
    if (!isConnected) return undefined;
    const replyTo = channels.replies(randomUUID());
    const question: Question = { id, replyTo };
    let timer: NodeJS.Timeout | undefined;
    let unsubscribe: Unsubscribe | undefined;
    try {
      return await new Promise<RequestTimeline | undefined>((resolve, reject) => {
        timer = setTimeout(() => resolve(undefined), ANSWER_WITHIN_MS);
        bus
          .subscribe(replyTo, (payload) => resolve(parsed<RequestTimeline>(payload)))
          .then((end) => {
            unsubscribe = end;
            bus.publish(channels.timelineQuestions, Buffer.from(JSON.stringify(question)));
          })
          .catch(reject);
      });
    } catch (error) {
      this.logger.debug({ err: error }, 'other processes not asked for a timeline');
      return undefined;
    } finally {
      clearTimeout(timer);
      await unsubscribe?.().catch(() => undefined);
    }
  }

  private answer({ id, replyTo }: Question): void {
    const timeline = this.own(id);
    if (timeline === undefined) return;
    this.transport.bus.publish(replyTo, Buffer.from(JSON.stringify(timeline)));
  }

  private told(message: EngineFacts): void {
    for (const run of message.runs) this.store.sequence(run.requestId)?.told(message, run);
  }
}

/** What a timeline says of the call itself. */
export function openedRequest(
  { requestId, arrivalUs, response }: Call,
  { id, model }: AnswerHead,
): OpenedRequest {
  const [endpoint = ''] = (response.req.url ?? '').split('?', 1);
  return { id, requestId, model, endpoint, arrivalUs };
}

function parsed<T>(payload: Buffer): T {
  return JSON.parse(payload.toString()) as T;
}

function wallUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1_000);
}
