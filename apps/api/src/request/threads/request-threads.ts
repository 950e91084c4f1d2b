import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TurnShare } from '@baton/kernel';
import type { RequestLimits } from '@baton/openai';
import type { OutputPlan } from '@baton/text';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { LargeBody, MAX_PARSED_BYTES, wholeBody } from '../../http/body/large-body';
import { Config, Broker, Log } from '../../tokens';
import type { AnswerFacts, SequenceEnd } from '../answer/answer';
import { StoredAnswer } from '../answer/stored';
import { WholeAnswer } from '../answer/whole';
import { writtenBody } from '../answer/written';
import { TextSetup } from '../plan/text-setup';
import type {
  AnswerParts,
  EndpointReader,
  CheckedRequest,
  Call,
  Reading,
  ThreadSource,
} from '../take/call';
import { isHeavyBody } from '../take/heavy-body';
import { type AnswerExtra, type BodyAnswer, bodyAnswer } from './body-answers';
import {
  type AnswerForm,
  type PlacedSequence,
  type Taken,
  type ThreadData,
  type ThreadResult,
  type ThreadTask,
} from './messages';
import { type PackedPlans, packPlans, unpackPlans } from './packed-plans';
import { refusalFrom } from './plain-refusal';
import { threadFailure } from './thread-failure';
import { ThreadPool } from './thread-pool';

/** Exists only in the build. Tests that run the sources do everything on the event loop. */
const THREAD = join(__dirname, '../../thread/request-thread.js');

/**
 * Units of `spendWork` that take 10 ms on a slow core. After so many, a turn of the event loop
 * begins to read no further body: bodies that arrive together would add up.
 */
const TURN_WORK = 5_000;

const share = new TurnShare(TURN_WORK, setTimeout);

/**
 * Reads, plans and answers requests in threads when they would hold the event loop
 * (`isHeavyBody`). The code is the same; each request has bounded time and memory there.
 */
@Injectable()
export class RequestThreads implements OnApplicationShutdown {
  private readonly pool: ThreadPool | undefined;
  private tickets = 0;

  constructor(
    config: Config,
    { processClock }: Broker,
    text: TextSetup,
    private readonly logger: Log,
  ) {
    const { model, datasetTokens } = text.parts;
    const data: ThreadData = { config, keepsText: model !== undefined, datasetTokens };
    if (existsSync(THREAD)) this.pool = new ThreadPool(THREAD, data, processClock);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool?.close();
  }

  /** Reads a body: on the event loop if that is short, else in a thread. @throws BatonError */
  async take(call: Call, limits: RequestLimits): Promise<CheckedRequest> {
    const { reader } = call;
    if (reader.already !== undefined) return reader.already;
    const { reading, threaded } = await this.read(call, limits);
    const checked = reader.check(reading, limits);
    if (threaded === undefined) return this.withStoredDocument(checked, { threaded, call });
    return this.withStoredDocument(this.withThreadedAnswer(checked, { threaded, call }), {
      threaded,
      call,
    });
  }

  /** The content of a call's body, and the thread that read it. @throws BatonError */
  async read<Read extends Reading>(
    call: CallFor<Read>,
    limits: RequestLimits,
  ): Promise<ReadBody<Read>> {
    const { reader, body } = call;
    const isHeavy = reader.isHeavy === true || isHeavyBody(body);
    if (this.pool === undefined || reader.name === undefined || !isHeavy) {
      return { reading: await share.take(() => readHere<Read>(call, limits)) };
    }
    const threaded = this.newSource(call, limits);
    const { reading, fields } = await this.run<Taken>({ kind: 'take', source: threaded }, call);
    if (body instanceof LargeBody) body.show(fields);
    return { reading: reading as Read, threaded };
  }

  /** The request with an answer that a thread writes, if the answer is not streamed. */
  withThreadedAnswer(
    checked: CheckedRequest,
    { threaded, call, store = notStored }: ThreadedParts,
  ): CheckedRequest {
    if (checked.request.stream) return { ...checked, threaded };
    const answer = (parts: AnswerParts): WholeAnswer =>
      new WholeAnswer(parts.http, parts.plans, async (results, facts) => {
        const ends = results.map(({ count, reason }, index) => {
          return { span: { index, from: 0, count }, reason };
        });
        const body = await this.render('answer', { threaded, call, parts, ends, facts });
        await store(body, ends);
        return body;
      });
    return { ...checked, threaded, answer };
  }

  /** The request with an answer whose document, if any, is stored. */
  private withStoredDocument(
    checked: CheckedRequest,
    { threaded, call }: ReadCall,
  ): CheckedRequest {
    const { document, answer } = checked;
    const { store } = call.reader;
    if (document === undefined || store === undefined) return checked;
    return {
      ...checked,
      answer: (parts) =>
        new StoredAnswer(
          answer(parts),
          {
            storeEnd: (ends, facts) =>
              store(parts.head.id, async () => {
                if (threaded === undefined) {
                  return writtenBody((http) => document({ ...parts, http }), ends, facts);
                }
                const bytes = await this.render('document', { threaded, call, parts, ends, facts });
                // The stored document is ASCII.
                return Buffer.from(bytes.buffer).toString('latin1');
              }),
          },
          this.logger,
        ),
    };
  }

  private render(
    form: AnswerForm,
    { threaded, call, parts: { head, plans }, ends, facts }: RenderParts,
  ): Promise<Uint8Array> {
    const parts = { source: threaded, form, head, plans: packPlans(plans), ends, facts };
    return this.run<Uint8Array>({ kind: 'render', ...parts }, call);
  }

  /** An answer without an engine. @throws BatonError */
  async answer<Name extends BodyAnswer>(
    name: Name,
    { body, limits, extra }: AnswerInput<Name>,
  ): Promise<string | Uint8Array> {
    if (this.pool === undefined || !isHeavyBody(body)) {
      return share.take(() => bodyAnswer(name, wholeBody(body), { limits, extra }));
    }
    const source = this.newSource({ reader: NO_READER, body }, limits);
    const bytes = await this.run<Uint8Array>({ kind: 'answer', source, name, extra });
    return Buffer.from(bytes.buffer);
  }

  /** The plans of a body that a thread has read. */
  async plan(
    source: ThreadSource,
    places: readonly PlacedSequence[],
    call: Call,
  ): Promise<OutputPlan[]> {
    return unpackPlans(await this.run<PackedPlans>({ kind: 'plan', source, places }, call));
  }

  private newSource(
    { reader, body }: Pick<Call, 'reader' | 'body'>,
    limits: RequestLimits,
  ): ThreadSource {
    this.tickets += 1;
    return {
      ticket: this.tickets,
      reader: reader.name ?? '',
      extra: reader.extra,
      body: body instanceof LargeBody ? body.bytes : body,
      models: limits.models,
      kvCapacityTokens: limits.kvCapacityTokens,
    };
  }

  /** @param call ends the task when its connection closes; without it only the task's bounds do */
  private async run<Value>(task: ThreadTask, call?: Call): Promise<Value> {
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    call?.response.once('close', leave);
    try {
      const { body } = task.source;
      const bytes = body instanceof Uint8Array ? body.length : MAX_PARSED_BYTES;
      const result = (await this.pool!.run(task, {
        signal: gone.signal,
        bytes,
      })) as ThreadResult<Value>;
      if (result.refusal !== undefined) throw refusalFrom(result.refusal);
      return result.value;
    } catch (error) {
      throw threadFailure(error, this.logger);
    } finally {
      call?.response.off('close', leave);
    }
  }
}

export interface AnswerInput<Name extends BodyAnswer> {
  readonly body: unknown;
  readonly limits: RequestLimits;
  readonly extra?: AnswerExtra<Name> | undefined;
}

/** A call with its reader. */
export type CallFor<Read extends Reading> = Omit<Call, 'reader'> & {
  readonly reader: EndpointReader<Read>;
};

/** A body that was read; `threaded` is set when a thread did, which then also plans and answers. */
export interface ReadBody<Read extends Reading = Reading> {
  readonly reading: Read;
  readonly threaded?: ThreadSource;
}

/** Stores the body of an answer before it is sent. Rejects with an error of the catalogue. */
export type StoreBody = (body: Uint8Array, ends: readonly SequenceEnd[]) => Promise<void>;

interface Called {
  readonly call: Call;
}

/** `threaded` is set when a thread has read the body. */
interface ReadCall extends Called {
  readonly threaded: ThreadSource | undefined;
}

interface ThreadedParts extends Called {
  readonly threaded: ThreadSource;
  /** Default: the body is not stored. */
  readonly store?: StoreBody;
}

interface RenderParts extends Called {
  readonly threaded: ThreadSource;
  readonly parts: AnswerParts;
  readonly ends: readonly SequenceEnd[];
  readonly facts: AnswerFacts;
}

const notStored: StoreBody = () => Promise.resolve();

/** An answer without an engine needs no reader. */
const NO_READER = {} as EndpointReader;

/** Reads a body on the event loop. */
function readHere<Read extends Reading>(
  { reader, body }: { readonly reader: EndpointReader<Read>; readonly body: unknown },
  limits: RequestLimits,
): Read {
  const value = wholeBody(body);
  if (body instanceof LargeBody) body.show(value as object);
  return reader.read(value, limits, reader.extra);
}
