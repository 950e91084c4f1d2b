import type { BatonError } from '@baton/contract';
import { asResponseFault, type TranslatedResponse } from '@baton/responses';
import type { Answer } from '../../request/answer/answer';
import { PassingAnswer } from '../../request/answer/passing';

interface TranslatedOptions {
  readonly response: TranslatedResponse;
  /** False: headers go out with the first event, so that an earlier failure has its status. */
  readonly opensEarly: boolean;
}

/** Gives the events of an upstream server to the response that is made of them. */
export class TranslatedAnswer extends PassingAnswer {
  constructor(
    inner: Answer,
    private readonly options: TranslatedOptions,
  ) {
    super(inner);
  }

  override open(): void {
    if (this.options.opensEarly) super.open();
  }

  override executed(payload: string): void {
    this.options.response.take(payload);
  }

  override fail(error: BatonError): void {
    super.fail(asResponseFault(error));
  }
}
