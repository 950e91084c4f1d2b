import type { RequestLimits } from '@baton/openai';
import {
  lengthOfLoaded,
  mayContinue,
  newId,
  NO_LINKS,
  type ResponseLinks,
  type UpstreamPart,
} from '@baton/responses';
import { Injectable } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { tenantOf } from '../../http/access/tenant';
import { LargeBody, MAX_PARSED_BYTES } from '../../http/body/large-body';
import { makeCall, type Received } from '../../request/take/call';
import {
  type AnswerInput,
  type CallFor,
  type ReadBody,
  RequestThreads,
} from '../../request/threads/request-threads';
import { Executions } from '../../request/executed/executions';
import { Config } from '../../tokens';
import { requestOf, responseReaders, type ResponseReading } from './response-readers';
import type { ResponseParts } from './response-answers';
import { type Recall, ResponseMemory } from './response-memory';

/** The transport and the connection of a body. */
export interface Arrival {
  /** True for an unread message over a WebSocket; default false. */
  readonly isMessage?: boolean;
  /** Reads the earlier responses that only this connection has. */
  readonly recall?: Recall;
}

/** A requested response, and its call. */
export interface ReadResponse extends ReadBody<ResponseReading> {
  readonly parts: ResponseParts;
  readonly call: CallFor<ResponseReading>;
  readonly limits: RequestLimits;
}

/** Reads requests for responses, with all items that they continue. */
@Injectable()
export class ResponseReader {
  private readonly readers: ReturnType<typeof responseReaders>;

  constructor(
    private readonly config: Config,
    private readonly catalog: ModelCatalog,
    private readonly threads: RequestThreads,
    private readonly memory: ResponseMemory,
    private readonly executions: Executions,
  ) {
    this.readers = responseReaders(config);
  }

  /** A checked request with all items that it continues. @throws BatonError */
  async read(
    kind: 'response' | 'compaction',
    received: Received,
    { isMessage = false, recall }: Arrival = {},
  ): Promise<ReadResponse> {
    const owner = tenantOf(received.request);
    const limits = this.catalog.limitsOf(owner);
    const links = await this.links(received.body, { limits, extra: { isMessage } });
    const loaded = await this.memory.load(links, { owner, recall });
    const isHeavy = lengthOfLoaded(loaded) > MAX_PARSED_BYTES;
    const { upstream } = this;
    const reader = { ...this.readers[kind], extra: { loaded, isMessage, upstream }, isHeavy };
    const call = { ...makeCall(reader, received), reader };
    const read = await this.threads.read<ResponseReading>(call, limits);
    const { context, input } = read.reading;
    const { reasoningEvents } = this.config;
    const request = requestOf(read.reading);
    const parts = { id: newId('resp'), owner, request, context, input, reasoningEvents };
    return { ...read, parts, call, limits };
  }

  private get upstream(): UpstreamPart | undefined {
    const { answers, isOn } = this.executions;
    if (answers) return 'answer';
    return isOn ? 'prompt' : undefined;
  }

  /** Most bodies continue nothing, and are read once. */
  private async links(
    body: unknown,
    options: Omit<AnswerInput<'response-links'>, 'body'>,
  ): Promise<ResponseLinks> {
    if (!(body instanceof LargeBody) && !mayContinue(body)) return NO_LINKS;
    const links = await this.threads.answer('response-links', { ...options, body });
    return JSON.parse(String(links)) as ResponseLinks;
  }
}
