import type { BatonError } from '@baton/contract';
import type { HttpAnswer } from '../../http/http-answer';
import { EventStream } from '../../http/streaming/event-stream';
import type { EventSink } from './stream';

/** Sends events to the client of the request. */
export class HttpEvents extends EventStream implements EventSink {
  constructor(private readonly http: HttpAnswer) {
    super(http.response, http.tap);
  }

  override open(): void {
    if (!this.isOpen) super.open(this.http.headers());
  }

  refuse(error: BatonError): void {
    this.http.sendError(error);
  }
}
