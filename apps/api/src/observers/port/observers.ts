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

type Hearing = { [E in keyof ObservedEvents]: Pick<ObservedEvents, E>[] };

/** Passes each event to the enabled observers that handle it. */
export class Observers implements ObservedEvents {
  private hearing: Hearing;

  constructor(private readonly all: readonly RequestObserver[]) {
    this.hearing = hearingOf(all);
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
    this.hearing = hearingOf(this.all);
  }

  refused(call: ObservedCall, error: BatonError): void {
    for (const observer of this.hearing.refused) observer.refused(call, error);
  }

  opened(request: ObservedRequest): void {
    for (const observer of this.hearing.opened) observer.opened(request);
  }

  noted(sequence: ObservedSequence, note: SequenceNote): void {
    for (const observer of this.hearing.noted) observer.noted(sequence, note);
  }

  faulted(note: FaultNote): void {
    for (const observer of this.hearing.faulted) observer.faulted(note);
  }

  tokens(sequence: ObservedSequence, news: TokenNews): void {
    for (const observer of this.hearing.tokens) observer.tokens(sequence, news);
  }

  rehomed(jobs: number): void {
    for (const observer of this.hearing.rehomed) observer.rehomed(jobs);
  }

  written(header: FrameHeader): void {
    for (const observer of this.hearing.written) observer.written(header);
  }

  ended(sequence: ObservedSequence, end: End, request: ObservedRequest): void {
    for (const observer of this.hearing.ended) observer.ended(sequence, end, request);
  }

  closed(request: ObservedRequest, end: RequestEnd): void {
    for (const observer of this.hearing.closed) observer.closed(request, end);
  }
}

function hearingOf(all: readonly RequestObserver[]): Hearing {
  const on = all.filter(({ isOn = true }) => isOn);
  const wants = <E extends keyof ObservedEvents>(event: E): Pick<ObservedEvents, E>[] =>
    on.filter((each): each is RequestObserver & Pick<ObservedEvents, E> => event in each);
  return {
    refused: wants('refused'),
    opened: wants('opened'),
    noted: wants('noted'),
    faulted: wants('faulted'),
    tokens: wants('tokens'),
    rehomed: wants('rehomed'),
    written: wants('written'),
    ended: wants('ended'),
    closed: wants('closed'),
  };
}
