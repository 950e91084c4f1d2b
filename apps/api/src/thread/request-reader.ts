import { BatonError } from '@baton/contract';
import { assert, isObject, withinWork, WorkExceeded } from '@baton/kernel';
import {
  type GenerationRequest,
  type PlanContext,
  planSequence,
  type RequestLimits,
} from '@baton/openai';
import { lengthOfLoaded } from '@baton/responses';
import type { StructuredText } from '@baton/text';
import type { ResponseExtra } from '../endpoints/responses/response-readers';
import { parsedBytes } from '../http/body/large-body';
import { writtenBody } from '../request/answer/written';
import { fixedLimits, planContext } from '../request/plan/model-context';
import type { TextParts } from '../request/plan/text-setup';
import type { EndpointReader, Reading, ThreadSource } from '../request/take/call';
import { bodyAnswer } from '../request/threads/body-answers';
import type { Performed, Taken, ThreadData, ThreadTask } from '../request/threads/messages';
import { packPlans, unpackPlans } from '../request/threads/packed-plans';
import { plainRefusal } from '../request/threads/plain-refusal';
import { endpointReaders } from './endpoint-readers';
import { ReadingCache } from './reading-cache';

/** Longest field of a body that the event loop reads, in characters. */
const MAX_FIELD = 4_096;
/**
 * Most units of `spendWork` of one task: schemas, patterns, grammars and log-probabilities of so
 * many units take up to 1 s and 150 MiB (docs/limits.md). The count is the same on every machine.
 */
const MAX_WORK = 3_000_000;
/** Most members of such a field when it is an object or a list. */
const MAX_MEMBERS = 64;

type Task<Kind extends ThreadTask['kind']> = Extract<ThreadTask, { readonly kind: Kind }>;

interface Read {
  readonly reader: EndpointReader;
  readonly limits: RequestLimits;
  readonly reading: Reading;
}

/** Carries out the tasks of one thread. */
export class RequestReader {
  private readonly readers: ReadonlyMap<string, EndpointReader>;
  private readonly limits: RequestLimits;
  private readonly plans: PlanContext;
  private readonly cache = new ReadingCache<Read>();

  constructor({ config, keepsText }: ThreadData, parts: TextParts) {
    this.readers = endpointReaders(config);
    this.limits = fixedLimits(config, parts, keepsText);
    this.plans = planContext(config, parts);
  }

  /** A refusal is returned as a result, because an error would lose its class between threads. */
  perform(task: ThreadTask): Performed {
    try {
      const { value, transfer } = withinWork(MAX_WORK, () => this.done(task));
      return { value: { value }, ...(transfer && { transfer }) };
    } catch (error) {
      const refusal = error instanceof WorkExceeded ? TOO_COMPLEX : error;
      if (refusal instanceof BatonError) return { value: { refusal: plainRefusal(refusal) } };
      throw error;
    }
  }

  private done(task: ThreadTask): Performed {
    switch (task.kind) {
      case 'take':
        return { value: this.take(task.source) };
      case 'answer':
        return this.answer(task);
      case 'plan':
        return this.plan(task);
      case 'render':
        return this.render(task);
    }
  }

  private take(source: ThreadSource): Taken {
    const body = bodyOf(source);
    const { reading } = this.keep(source, body);
    const { local: _local, ...rest } = reading;
    return {
      reading: { ...rest, request: withoutPlanned(reading.request) },
      fields: smallFields(body),
    };
  }

  private answer({ source, name, extra }: Task<'answer'>): Performed {
    const limits = this.limitsOf(source);
    return inBytes(bodyAnswer(name, bodyOf(source), { limits, extra }));
  }

  private plan({ source, places }: Task<'plan'>): Performed {
    const { request } = this.readingFor(source).reading;
    const plans = places.map(({ given, ...place }) =>
      planSequence(
        request,
        { ...place, answers: given && ((): typeof given => given) },
        this.plans,
      ),
    );
    const packed = packPlans(plans);
    return { value: packed, transfer: [packed.ids.buffer as ArrayBuffer] };
  }

  private render({ source, form, head, plans: packed, ends, facts }: Task<'render'>): Performed {
    const { reader, reading, limits } = this.readingFor(source);
    // For a stream only the document is written here; for other answers it is written first.
    if (form === 'answer' || reading.request.stream) this.cache.delete(source.ticket);
    const plans = unpackPlans(packed);
    const { [form]: make } = reader.check(reading, limits);
    assert(make !== undefined, 'only what is kept has a document');
    const options = { dialect: limits.dialect, tokenizer: limits.tokenizer };
    return inBytes(writtenBody((http) => make({ http, head, plans, options }), ends, facts));
  }

  /** The reading of an earlier task of the request, or a new one, which is no work of this task. */
  private readingFor(source: ThreadSource): Read {
    const cached = this.cache.get(source.ticket);
    return cached ?? withinWork(MAX_WORK, () => this.keep(source, bodyOf(source)));
  }

  private keep(source: ThreadSource, body: unknown): Read {
    const reader = this.readers.get(source.reader);
    assert(reader !== undefined, 'a thread has a reader for every endpoint');
    const limits = this.limitsOf(source);
    return this.cache.add(source.ticket, lengthOf(source), () => {
      return { reader, limits, reading: reader.read(body, limits, source.extra) };
    });
  }

  private limitsOf({ models, kvCapacityTokens }: ThreadSource): RequestLimits {
    const capacity = kvCapacityTokens === undefined ? {} : { kvCapacityTokens };
    return { ...this.limits, models, ...capacity };
  }
}

/** JSON in its own buffer, which is transferred without a copy. */
function inBytes(json: string): Performed {
  const bytes = new TextEncoder().encode(json);
  return { value: bytes, transfer: [bytes.buffer] };
}

function bodyOf({ body }: ThreadSource): unknown {
  return body instanceof Uint8Array ? parsedBytes(body) : body;
}

/** Bytes of the content to read; few where the event loop has parsed it. */
function lengthOf({ body, extra }: ThreadSource): number {
  const loaded = isObject(extra) ? (extra as Partial<ResponseExtra>).loaded : undefined;
  const continued = loaded === undefined ? 0 : lengthOfLoaded(loaded);
  return continued + (body instanceof Uint8Array ? body.length : 0);
}

/**
 * The event loop neither writes nor checks constrained texts of such a request, nor favours tokens.
 * A copy of 100,000 favoured tokens would block it.
 */
function withoutPlanned(request: GenerationRequest): GenerationRequest {
  const { tools } = request;
  const rest = { ...request, constraint: undefined, steering: undefined };
  if (tools === undefined) return rest;
  const named = tools.tools.map((tool) => ({ ...tool, arguments: NO_TEXT }));
  return { ...rest, tools: { ...tools, tools: named } };
}

const TOO_COMPLEX = new BatonError('request_too_complex');

/** Placeholder: methods cannot be sent between threads. */
const NO_TEXT = {} as StructuredText;

/** The fields that routers, rate limits and observers read: numbers, names and short objects. */
function smallFields(body: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(body)) return {};
  return Object.fromEntries(Object.entries(body).filter(([, value]) => isSmall(value)));
}

function isSmall(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= MAX_FIELD;
  if (typeof value !== 'object' || value === null) return true;
  const members = Object.values(value);
  return members.length <= MAX_MEMBERS && members.every(isSmall);
}
