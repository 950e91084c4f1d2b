import { headOf, type StoredResponse, withFailure } from '@baton/responses';
import { Injectable } from '@nestjs/common';
import { StoredDocuments } from '../../cluster/stored-documents';
import { Config, Broker } from '../../tokens';
import type { Owned } from '../../http/access/tenant';

/** Blanks behind a response under way, so that the reason of a failure always has room. */
const ROOM_FOR_FAILURE = ' '.repeat(1_024);

/** The stored responses. */
@Injectable()
export class ResponseStore extends StoredDocuments<StoredResponse> {
  constructor(
    config: Config,
    private readonly broker: Broker,
  ) {
    const kind = { missing: 'response_not_found', named: 'Response' } as const;
    super(config, broker, { collection: 'responses', ...kind });
  }

  /** A response whose process has died reads as failed, because no other process will end it. */
  override async text(at: Owned): Promise<string | undefined> {
    const text = await super.text(at);
    if (text === undefined) return undefined;
    const { apiId, isOver } = headOf(text);
    if (apiId === undefined || isOver) return text;
    const [isAlive] = await this.broker.presence.aliveApis([apiId]);
    if (isAlive !== false) return text;
    return this.fail(at, 'The API process that made the response has ended.');
  }

  /** Stores a response under way. False when it is larger than the store allows. */
  begin(at: Owned, text: string): Promise<boolean> {
    return this.addText(at, text + ROOM_FOR_FAILURE);
  }

  /** Ends a response under way as failed; one that is over stays as it is. */
  fail(at: Owned, message: string): Promise<string | undefined> {
    return this.updateText(at, (text) =>
      headOf(text).isOver ? undefined : withFailure(text, { code: 'server_error', message }),
    );
  }
}
