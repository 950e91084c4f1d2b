import type { ResponseItem, ResponseObject } from '@baton/openai';
import type { BatonConfig } from '@baton/runtime';
import type { Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, TRANSPORT } from '../tokens';
import { DocumentCollection } from './document-collection';

/** What is kept of a response: enough to show it, to tell its stream again, and to go on with it. */
export interface StoredResponse {
  readonly response: ResponseObject;
  /** Items that came before the request: of earlier responses. */
  readonly context: readonly ResponseItem[];
  /** Items of the request itself. */
  readonly input: readonly ResponseItem[];
  /** Per item of the output the lengths of its deltas, as they were streamed. */
  readonly deltas: readonly (readonly number[])[];
}

const OVER = new Set<string>(['completed', 'incomplete', 'failed', 'cancelled']);

export function isOver({ response }: StoredResponse): boolean {
  return OVER.has(response.status);
}

/** The responses that can be asked for again. */
@Injectable()
export class ResponseStore extends DocumentCollection<StoredResponse> {
  constructor(@Inject(CONFIG) config: BatonConfig, @Inject(TRANSPORT) transport: Transport) {
    const { responsesMaxEntries: maxEntries, responsesTtl } = config;
    super(transport, {
      collection: 'responses',
      maxEntries,
      ttlMs: Math.ceil(responsesTtl * 1000),
    });
  }
}
