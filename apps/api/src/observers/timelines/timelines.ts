import { randomUUID } from 'node:crypto';
import { wallUsOf } from '@baton/clock';
import type { EngineFacts, RequestTimeline, TimelineEngine } from '@baton/contract';
import { channels, jsonListener, type Unsubscribe } from '@baton/transport';
import { Injectable } from '@nestjs/common';
import { ClusterView } from '../../cluster/cluster-view';
import type { Owned } from '../../http/access/tenant';
import { ApiIdentity, Config, Log, Broker } from '../../tokens';
import type {
  End,
  ObservedRequest,
  ObservedSequence,
  RequestObserver,
  TokenNews,
} from '../port/port';
import { type RequestTrace, SequenceTrace } from './request-trace';
import { timelineOf } from './timeline-document';
import { TraceStore } from './trace-store';

/** Time limit for other API processes to answer that they have a request, ms. */
const ANSWER_WITHIN_MS = 400;

interface Live {
  readonly request: RequestTrace;
  readonly trace: SequenceTrace;
}

interface Question extends Owned {
  readonly replyTo: string;
}

/**
 * Keeps the events of each request and serves them on demand: those of this process immediately,
 * those of other API processes after a request to all of them. Engines send their facts once per
 * request. It is off with `timeline_max_entries` 0.
 */
@Injectable()
export class Timelines implements RequestObserver {
  private readonly live = new Map<ObservedSequence, Live>();
  private readonly store: TraceStore;
  readonly isOn: boolean;
  private readonly unsubscribe: Unsubscribe[] = [];

  constructor(
    private readonly config: Config,
    private readonly transport: Broker,
    private readonly identity: ApiIdentity,
    private readonly logger: Log,
    private readonly cluster: ClusterView,
  ) {
    const { timelineMaxEntries: maxEntries, timelineTtl } = config;
    this.isOn = maxEntries > 0;
    this.store = new TraceStore({ maxEntries, ttlMs: timelineTtl * 1_000 });
  }

  async start(): Promise<void> {
    if (!this.isOn) return;
    const { bus } = this.transport;
    const noteFacts = this.reader<EngineFacts>((facts) => this.noteFacts(facts));
    const answer = this.reader<Question>((question) => this.answer(question));
    this.unsubscribe.push(
      await bus.subscribe(channels.timelines(this.identity.apiId), noteFacts),
      await bus.subscribe(channels.timelineQuestions, answer),
    );
  }

  async stop(): Promise<void> {
    for (const end of this.unsubscribe.splice(0)) await end().catch(() => undefined);
  }

  opened({ call, id, model, endpoint, sequences }: ObservedRequest): void {
    const { requestId, arrivalUs, tenant: owner } = call;
    const request: RequestTrace = {
      sequences: [],
      endedMs: undefined,
      owner,
      id,
      requestId,
      model,
      endpoint,
      arrivalUs,
    };
    for (const sequence of sequences) {
      const trace = new SequenceTrace(sequence.job, sequence.index, sequence.history);
      request.sequences.push(trace);
      this.live.set(sequence, { request, trace });
    }
    this.store.add(request);
  }

  tokens(sequence: ObservedSequence, { stampedUs }: TokenNews): void {
    this.live.get(sequence)?.trace.tokens(sequence.received, stampedUs);
  }

  ended(sequence: ObservedSequence, { reason, error }: End): void {
    const live = this.live.get(sequence);
    if (live === undefined) return;
    this.live.delete(sequence);
    live.trace.noteEnd(sequence, { reason, error, atUs: wallUsOf() });
    this.store.settle(live.request, performance.now());
  }

  /** The engine that has taken the sequence for its first stage, undefined while it is unknown. */
  takenBy(sequence: ObservedSequence): string | undefined {
    const stages = this.live.get(sequence)?.trace.stages;
    return stages?.get('prefill')?.engineId ?? stages?.get('aggregated')?.engineId;
  }

  /** The timeline of a request from any API process; undefined when no process has it. */
  async find(at: Owned): Promise<RequestTimeline | undefined> {
    return this.own(at) ?? (this.isOn ? this.ask(at) : undefined);
  }

  private own(at: Owned): RequestTimeline | undefined {
    const request = this.store.find(at, performance.now());
    if (request === undefined) return undefined;
    const { speedup } = this.config;
    const engineOf = (id: string): TimelineEngine => {
      return { id, name: this.cluster.nameOf(id), index: this.cluster.find(id)?.index ?? null };
    };
    return timelineOf(request, { api: this.identity.apiId, speedup, nowUs: wallUsOf(), engineOf });
  }

  private async ask({ owner, id }: Owned): Promise<RequestTimeline | undefined> {
    const { bus, isConnected } = this.transport;
    if (!isConnected) return undefined;
    const replyTo = channels.replies(randomUUID());
    const question: Question = { owner, id, replyTo };
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;
    let subscribed: Promise<Unsubscribe> | undefined;
    try {
      return await new Promise<RequestTimeline | undefined>((resolve, reject) => {
        timer = setTimeout(() => resolve(undefined), ANSWER_WITHIN_MS);
        subscribed = bus.subscribe(replyTo, this.reader<RequestTimeline>(resolve));
        subscribed.then(() => {
          if (isOver) return;
          bus.publish(channels.timelineQuestions, Buffer.from(JSON.stringify(question)));
        }, reject);
      });
    } catch (error) {
      this.logger.debug({ err: error }, 'requesting a timeline from other processes failed');
      return undefined;
    } finally {
      isOver = true;
      clearTimeout(timer);
      // The broker may be slower than the question.
      void subscribed?.then((end) => end()).catch(() => undefined);
    }
  }

  private answer({ owner, id, replyTo }: Question): void {
    const timeline = this.own({ owner, id });
    if (timeline === undefined) return;
    this.transport.bus.publish(replyTo, Buffer.from(JSON.stringify(timeline)));
  }

  private reader<T>(visit: (message: T) => void): (payload: Buffer) => void {
    return jsonListener(this.logger, visit);
  }

  private noteFacts(message: EngineFacts): void {
    for (const run of message.runs) this.store.sequence(run.requestId)?.noteFacts(message, run);
  }
}
