import type { BatonConfig } from '@baton/config';
import { headOf, type StoredResponse } from '@baton/responses';
import type { Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { StoredDocuments } from '../../cluster/stored-documents';
import { CONFIG, TRANSPORT } from '../../tokens';
import type { Owned } from '../../http/access/tenant';

/** The stored responses. */
@Injectable()
export class ResponseStore extends StoredDocuments<StoredResponse> {
  constructor(
    @Inject(CONFIG) config: BatonConfig,
    @Inject(TRANSPORT) private readonly broker: Transport,
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
    return isAlive === false ? this.updateText(at, lost) : text;
  }
}

function lost(text: string): string | undefined {
  if (headOf(text).isOver) return undefined;
  const stored = JSON.parse(text) as StoredResponse;
  const error = {
    code: 'server_error',
    message: 'The API process that made the response has ended.',
  };
  return JSON.stringify({ ...stored, response: { ...stored.response, status: 'failed', error } });
}
