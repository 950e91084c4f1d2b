import type { BatonConfig } from '@baton/config';
import type { ResponseItem, ResponseObject } from '@baton/responses';
import type { Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, TRANSPORT } from '../../tokens';
import type { Owned } from '../../http/access/tenant';
import { DocumentCollection, storedBounds } from '../../cluster/document-collection';

/** What is kept of a response: enough to show it, to replay its stream, and to continue it. */
export interface StoredResponse {
  readonly response: ResponseObject;
  /** Items that came before the request: of earlier responses. */
  readonly context: readonly ResponseItem[];
  /** Items of the request itself. */
  readonly input: readonly ResponseItem[];
  /** The API process that makes it, for a background response. */
  readonly apiId?: string | undefined;
  /** The lengths of the deltas as streamed, per item of the output. */
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
    super(broker, { collection: 'responses', ...storedBounds(config) });
  }

  /** A response of a dead process is found as failed: no other process will end it. */
  override async find(at: Owned): Promise<StoredResponse | undefined> {
    const found = await super.find(at);
    if (found?.apiId === undefined || isResponseOver(found)) return found;
    const [isAlive] = await this.broker.presence.aliveApis([found.apiId]);
    return isAlive === false ? this.update(at, lost) : found;
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
