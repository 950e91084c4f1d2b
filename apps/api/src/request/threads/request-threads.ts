import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BatonConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import { TurnShare, withinWork, WorkExceeded } from '@baton/kernel';
import type { RequestLimits } from '@baton/openai';
import type { OutputPlan } from '@baton/text';
import { WorkPool } from '../../work-pool/work-pool';
import { WorkRefused } from '../../work-pool/work-refused';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { LargeBody, MAX_PARSED_BYTES, wholeBody } from '../../http/body/large-body';
import { CONFIG } from '../../tokens';
import type { AnswerFacts } from '../answer/answer';
import { DocumentStoringAnswer } from '../answer/document-storing';
import { type SequenceEnd, ThreadedAnswer } from '../answer/threaded';
import { writtenBody } from '../answer/written';
import { TextSetup } from '../plan/text-setup';
import type {
  AnswerParts,
  EndpointReader,
  CheckedRequest,
  Call,
  Reading,
  ThreadBudget,
  ThreadSource,
  ThreadWork,
} from '../take/call';
import { isHeavyBody } from '../take/heavy-body';
import { type AnswerExtra, type BodyAnswer, bodyAnswer } from './body-answers';
import {
  type AllowedTask,
  type AnswerForm,
  MAX_WORK,
  type PlacedSequence,
  type Taken,
  type ThreadData,
  type ThreadResult,
  type ThreadTask,
} from './messages';
import { type PackedPlans, packPlans, unpackPlans } from './packed-plans';
import { refusalFrom } from './plain-refusal';

/** Exists only in the build. Tests that run the sources do everything on the event loop. */
const THREAD = join(__dirname, '../../thread/request-thread.js');

/** Units of `spendWork` that one request may spend on the event loop: 10 ms on a slow core. */
const LOOP_WORK = 5_000;
/** Units after which a turn of the event loop begins to read no further request. */
const TURN_WORK = 2_500;

const BOUNDS = {
  /** A limit per request, so that one long request does not make all others wait. */
  threads: 2,
  /** A load generator without a rate sends all its long prompts at once. */
  maxWaiting: 4_096,
  maxWaitingBytes: 256 * 1024 * 1024,
  maxWaitMs: 60_000,
  cpuMs: 2_000,
  wallMs: 20_000,
  /** Code and vocabulary (30 MiB for o200k, more for some models), and 256 MiB for the request. */
  heapMb: 384,
  idleMs: 10_000,
};

/** Wait that a client is asked for when too many requests wait for a thread, s. */
const RETRY_AFTER_S = 10;

const share = new TurnShare(TURN_WORK, setTimeout);

/**
 * Reads, plans and answers requests in threads when they would block the event loop. The code is
 * the same; each request has bounded time and memory there.
 */
@Injectable()
export class RequestThreads implements OnApplicationShutdown {
  private readonly pool: WorkPool | undefined;
  private tickets = 0;

  constructor(@Inject(CONFIG) config: BatonConfig, text: TextSetup) {
    const { model, datasetTokens } = text.parts;
    const data: ThreadData = { config, keepsText: model !== undefined, datasetTokens };
    if (existsSync(THREAD)) this.pool = new WorkPool({ ...BOUNDS, entry: THREAD, data });
  }

  onApplicationShutdown(): void {
    this.pool?.close();
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
    budget?: ThreadBudget,
  ): Promise<ReadBody<Read>> {
    const { reader, body } = call;
    if (this.pool === undefined) return { reading: readHere<Read>(call, limits) };
    if (reader.name === undefined) return { reading: await bounded(() => readHere(call, limits)) };
    if (reader.isHeavy !== true && !isHeavyBody(body)) {
      const reading = await onLoop((): Read => reader.read(body, limits, reader.extra));
      if (reading !== undefined) return { reading };
    }
    return this.readInThread(call, limits, budget ?? newBudget());
  }

  /** The request with an answer that a thread writes, if the answer is not streamed. */
  withThreadedAnswer(
    checked: CheckedRequest,
    { threaded, call, store = notStored }: ThreadedParts,
  ): CheckedRequest {
    if (checked.request.stream) return { ...checked, threaded };
    const answer = (parts: AnswerParts): ThreadedAnswer =>
      new ThreadedAnswer(parts.http, async (ends, facts) => {
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
        new DocumentStoringAnswer(answer(parts), (ends, facts) =>
          store(parts.head.id, async () => {
            if (threaded === undefined) {
              return writtenBody((http) => document({ ...parts, http }), ends, facts);
            }
            const bytes = await this.render('document', { threaded, call, parts, ends, facts });
            // The stored document is ASCII.
            return Buffer.from(bytes.buffer).toString('latin1');
          }),
        ),
    };
  }

  private render(
    form: AnswerForm,
    { threaded, call, parts: { head, plans }, ends, facts }: RenderParts,
  ): Promise<Uint8Array> {
    const { source } = threaded;
    const parts = { source, form, head, plans: packPlans(plans), ends, facts };
    return this.run<Uint8Array>({ kind: 'render', ...parts }, threaded, call);
  }

  /** Plans of a request with constraints: made here, or in a thread where that takes too long. */
  async planConfined(call: Call, limits: RequestLimits, parts: PlanParts): Promise<OutputPlan[]> {
    if (this.pool === undefined) return parts.plan();
    if (call.reader.name === undefined) return bounded(parts.plan);
    const plans = await onLoop(parts.plan);
    if (plans !== undefined) return plans;
    const threaded = { source: this.newSource(call, limits), budget: newBudget() };
    return this.plan(threaded, parts.places(), call);
  }

  /** An answer without an engine. @throws BatonError */
  async answer<Name extends BodyAnswer>(
    name: Name,
    { body, limits, extra, budget }: AnswerInput<Name>,
  ): Promise<string | Uint8Array> {
    const here = (): string => bodyAnswer(name, wholeBody(body), { limits, extra });
    if (this.pool === undefined) return here();
    const answer = isHeavyBody(body) ? undefined : await onLoop(here);
    if (answer !== undefined) return answer;
    const source = this.newSource({ reader: NO_READER, body }, limits);
    const work = { budget: budget ?? newBudget() };
    const bytes = await this.run<Uint8Array>({ kind: 'answer', source, name, extra }, work);
    return Buffer.from(bytes.buffer);
  }

  /** The plans of a body that a thread has read. */
  async plan(
    threaded: ThreadWork,
    places: readonly PlacedSequence[],
    call: Call,
  ): Promise<OutputPlan[]> {
    const { source } = threaded;
    return unpackPlans(
      await this.run<PackedPlans>({ kind: 'plan', source, places }, threaded, call),
    );
  }

  private async readInThread<Read extends Reading>(
    call: Call,
    limits: RequestLimits,
    budget: ThreadBudget,
  ): Promise<ReadBody<Read>> {
    const source = this.newSource(call, limits);
    const threaded = { source, budget };
    const { reading, fields } = await this.run<Taken>({ kind: 'take', source }, threaded, call);
    if (call.body instanceof LargeBody) call.body.show(fields);
    return { reading: reading as Read, threaded };
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
  private async run<Value>(
    task: ThreadTask,
    { budget }: { readonly budget: ThreadBudget },
    call?: Call,
  ): Promise<Value> {
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    call?.response.once('close', leave);
    try {
      const allowed: AllowedTask = { task, work: budget.work };
      const { body } = task.source;
      const options = {
        signal: gone.signal,
        budget,
        bytes: body instanceof Uint8Array ? body.length : MAX_PARSED_BYTES,
        isContinued: task.kind === 'plan' || task.kind === 'render',
      };
      const result = (await this.pool!.run(allowed, options)) as ThreadResult<Value>;
      if (result.refusal !== undefined) throw refusalFrom(result.refusal);
      budget.work -= result.work;
      return result.value;
    } catch (error) {
      throw error instanceof WorkRefused ? refused(error) : error;
    } finally {
      call?.response.off('close', leave);
    }
  }
}

export interface AnswerInput<Name extends BodyAnswer> {
  readonly body: unknown;
  readonly limits: RequestLimits;
  readonly extra?: AnswerExtra<Name> | undefined;
  /** Default: the budget of a new request. */
  readonly budget?: ThreadBudget | undefined;
}

/** A call with its reader. */
export type CallFor<Read extends Reading> = Omit<Call, 'reader'> & {
  readonly reader: EndpointReader<Read>;
};

/** A body that was read; `threaded` is set when a thread did, which then also plans and answers. */
export interface ReadBody<Read extends Reading = Reading> {
  readonly reading: Read;
  readonly threaded?: ThreadWork;
}

/** Stores the body of an answer before it is sent. Rejects with an error of the catalogue. */
export type StoreBody = (body: Uint8Array, ends: readonly SequenceEnd[]) => Promise<void>;

interface Called {
  readonly call: Call;
}

/** `threaded` is set when a thread has read the body. */
interface ReadCall extends Called {
  readonly threaded: ThreadWork | undefined;
}

interface ThreadedParts extends Called {
  readonly threaded: ThreadWork;
  /** Default: the body is not stored. */
  readonly store?: StoreBody;
}

interface RenderParts extends Called {
  readonly threaded: ThreadWork;
  readonly parts: AnswerParts;
  readonly ends: readonly SequenceEnd[];
  readonly facts: AnswerFacts;
}

interface PlanParts {
  readonly places: () => readonly PlacedSequence[];
  /** Makes the plans on the event loop. */
  readonly plan: () => OutputPlan[];
}

const notStored: StoreBody = () => Promise.resolve();

/** An answer without an engine needs no reader. */
const NO_READER = {} as EndpointReader;

/** The time and the work of one request in the threads, over all its tasks. */
export function newBudget(): ThreadBudget {
  return { cpuMs: BOUNDS.cpuMs, work: MAX_WORK };
}

/** Used when there are no threads. */
function readHere<Read extends Reading>(
  { reader, body }: { readonly reader: EndpointReader<Read>; readonly body: unknown },
  limits: RequestLimits,
): Read {
  const value = wholeBody(body);
  if (body instanceof LargeBody) body.show(value as object);
  return reader.read(value, limits, reader.extra);
}

/**
 * Reads a request that threads cannot read. @throws BatonError when the work is too much for the
 * event loop
 */
async function bounded<Result>(run: () => Result): Promise<Result> {
  const result = await onLoop(run);
  if (result === undefined) throw new BatonError('request_too_complex');
  return result;
}

/**
 * Runs when the present turn of the event loop has time left. Undefined when it takes more work
 * than one request may spend there.
 */
async function onLoop<Result>(run: () => Result): Promise<Result | undefined> {
  try {
    return await share.take(() => withinWork(LOOP_WORK, run));
  } catch (error) {
    if (error instanceof WorkExceeded) return undefined;
    throw error;
  }
}

function refused({ reason }: WorkRefused): BatonError {
  switch (reason) {
    case 'busy':
      return new BatonError('threads_busy', undefined, null, RETRY_AFTER_S);
    case 'too-complex':
      return new BatonError('request_too_complex');
    case 'left':
      // The connection is closed, so no client reads the error.
      return new BatonError('slow_reader');
  }
}
