import type { BatonError, FaultNote, FrameHeader } from '@baton/contract';
import type {
  End,
  ObservedCall,
  ObservedEvents,
  ObservedRequest,
  ObservedSequence,
  RequestEnd,
  RequestObserver,
  SequenceNote,
  TokenNews,
} from './port';

type Subscribed = { [E in keyof ObservedEvents]: Pick<ObservedEvents, E>[] };

/** Passes each event to the enabled observers that handle it. */
export class Observers implements ObservedEvents {
  private subscribed: Subscribed;

  constructor(private readonly all: readonly RequestObserver[]) {
    this.subscribed = subscribersAmong(all);
  }

  async start(): Promise<void> {
    for (const observer of this.all) await observer.start?.();
    this.refresh();
  }

  async stop(): Promise<void> {
    for (const observer of this.all) await observer.stop?.();
  }

  /** Reads again which observers are on. */
  refresh(): void {
    this.subscribed = subscribersAmong(this.all);
  }

  refused(call: ObservedCall, error: BatonError): void {
    for (const observer of this.subscribed.refused) observer.refused(call, error);
  }

  opened(request: ObservedRequest): void {
    for (const observer of this.subscribed.opened) observer.opened(request);
  }

  noted(sequence: ObservedSequence, note: SequenceNote): void {
    for (const observer of this.subscribed.noted) observer.noted(sequence, note);
  }

  faulted(note: FaultNote): void {
    for (const observer of this.subscribed.faulted) observer.faulted(note);
  }

  tokens(sequence: ObservedSequence, news: TokenNews): void {
    for (const observer of this.subscribed.tokens) observer.tokens(sequence, news);
  }

  jobsMoved(jobs: number): void {
    for (const observer of this.subscribed.jobsMoved) observer.jobsMoved(jobs);
  }

  written(header: FrameHeader): void {
    for (const observer of this.subscribed.written) observer.written(header);
  }

  ended(sequence: ObservedSequence, end: End, request: ObservedRequest): void {
    for (const observer of this.subscribed.ended) observer.ended(sequence, end, request);
  }

  closed(request: ObservedRequest, end: RequestEnd): void {
    for (const observer of this.subscribed.closed) observer.closed(request, end);
  }
}

function subscribersAmong(all: readonly RequestObserver[]): Subscribed {
  const on = all.filter(({ isOn = true }) => isOn);
  const wants = <E extends keyof ObservedEvents>(event: E): Pick<ObservedEvents, E>[] =>
    on.filter((each): each is RequestObserver & Pick<ObservedEvents, E> => event in each);
  return {
    refused: wants('refused'),
    opened: wants('opened'),
    noted: wants('noted'),
    faulted: wants('faulted'),
    tokens: wants('tokens'),
    jobsMoved: wants('jobsMoved'),
    written: wants('written'),
    ended: wants('ended'),
    closed: wants('closed'),
  };
}
