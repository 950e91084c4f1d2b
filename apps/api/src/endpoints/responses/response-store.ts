import type { BatonConfig } from '@baton/config';
import type { ResponseItem, ResponseObject } from '@baton/responses';
import type { Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, TRANSPORT } from '../../tokens';
import { DocumentCollection } from '../../cluster/document-collection';

/**
 * What is kept of a response: enough to show it, to tell its stream again, and to go on with it.
 */
export interface StoredResponse {
  readonly response: ResponseObject;
  /** Items that came before the request: of earlier responses. */
  readonly context: readonly ResponseItem[];
  /** Items of the request itself. */
  readonly input: readonly ResponseItem[];
  /** Of one in the background: the API process that makes it. */
  readonly apiId?: string | undefined;
  /** Per item of the output the lengths of its deltas, as they were streamed. */
  readonly deltas: readonly (readonly number[])[];
}

const OVER = new Set<string>(['completed', 'incomplete', 'failed', 'cancelled']);

export function isResponseOver({ response }: StoredResponse): boolean {
  return OVER.has(response.status);
}

/** The responses that can be asked for again. */
@Injectable()
export class ResponseStore extends DocumentCollection<StoredResponse> {
  constructor(
    @Inject(CONFIG) config: BatonConfig,
    @Inject(TRANSPORT) private readonly broker: Transport,
  ) {
    const { responsesMaxEntries: maxEntries, responsesTtl } = config;
    super(broker, {
      collection: 'responses',
      maxEntries,
      ttlMs: Math.ceil(responsesTtl * 1000),
    });
  }

  /** One whose process has died is found as failed: nobody else will end it. */
  override async find(id: string): Promise<StoredResponse | undefined> {
    const found = await super.find(id);
    if (found?.apiId === undefined || isResponseOver(found)) return found;
    const [isAlive] = await this.broker.presence.aliveApis([found.apiId]);
    return isAlive === false ? this.update(id, lost) : found;
  }
}

function lost(stored: StoredResponse): StoredResponse | undefined {
  if (isResponseOver(stored)) return undefined;
  const error = {
    code: 'server_error',
    message: 'The API process that made the response has ended.',
  };
  return { ...stored, response: { ...stored.response, status: 'failed', error } };
}
