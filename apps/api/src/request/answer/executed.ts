import type { BatonError } from '@baton/contract';
import { type Dialect, renderStreamError } from '@baton/openai';
import type { HttpAnswer } from '../../http/http-answer';
import type { Answer } from './answer';
import { HttpEvents } from './stream';

const DONE = 'data: [DONE]\n\n';
const NOT_ASCII = /[^\x00-\x7f]/g;

/** An upstream server's answer, unchanged: its events one by one, or its body. */
export class PassThroughAnswer implements Answer {
  private readonly stream: HttpEvents | undefined;
  private pending = '';

  constructor(
    private readonly http: HttpAnswer,
    private readonly options: { readonly isStream: boolean; readonly dialect: Dialect },
  ) {
    if (options.isStream) this.stream = new HttpEvents(http);
  }

  get isOverfull(): boolean {
    return this.stream?.isOverfull ?? false;
  }

  /** Headers are sent with the first event, so that an earlier failure has its own status. */
  open(): void {}

  executed(payload: string): void {
    this.pending += this.stream === undefined ? payload : `data: ${ascii(payload)}\n\n`;
  }

  tokens(): void {}

  endSequence(): void {}

  flush(): void {
    const { stream } = this;
    if (stream === undefined || this.pending === '') return;
    stream.open();
    stream.write(this.pending);
    this.pending = '';
  }

  complete(): void {
    if (this.stream === undefined) this.http.sendJson(this.pending);
    else this.endAnswer(DONE);
  }

  fail(error: BatonError): void {
    if (this.stream?.isOpen !== true) this.http.sendError(error);
    else this.endAnswer(renderStreamError(error, this.options.dialect) + DONE);
  }

  private endAnswer(last: string): void {
    this.stream?.open();
    this.stream?.endStream(this.pending + last);
    this.pending = '';
  }
}

/** In JSON, non-ASCII characters occur only in strings, where they can be escaped. */
function ascii(json: string): string {
  return json.replace(
    NOT_ASCII,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
