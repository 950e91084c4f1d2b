import { Injectable } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { bodyOfText } from '../../http/body/large-body';
import type { AnswerExtra } from '../../request/threads/body-answers';
import { RequestThreads } from '../../request/threads/request-threads';
import { Config } from '../../tokens';

/** The views of stored responses that clients get; threads read the long ones. */
@Injectable()
export class ResponseViews {
  constructor(
    private readonly config: Config,
    private readonly threads: RequestThreads,
    private readonly catalog: ModelCatalog,
  ) {}

  async show(stored: string, view: AnswerExtra<'stored-response'>): Promise<string> {
    const limits = this.catalog.limitsOf(undefined);
    const body = bodyOfText(stored);
    return String(await this.threads.answer('stored-response', { body, limits, extra: view }));
  }

  /** The events after this number; -1 for all of them. */
  events(stored: string, after: number): Promise<string> {
    const { reasoningEvents: reasoning } = this.config;
    return this.show(stored, { kind: 'events', after, reasoning });
  }
}
