import type { BatonConfig } from '@baton/config';
import { assert } from '@baton/kernel';
import type { GenerationRequest } from '@baton/openai';
import {
  asCompaction,
  continued,
  type LoadedTexts,
  messageBody,
  newId,
  parseResponse,
  readResponse,
  renderCompaction,
  ResponseOutcome,
  type ResponseForms,
  type ResponseRequest,
  type UpstreamPart,
  type WholeRequest,
} from '@baton/responses';
import { WholeAnswer } from '../../request/answer/whole';
import type { AnswerParts, EndpointReader, Reading } from '../../request/take/call';

/** The data that is read for a response beside its body. */
export interface ResponseExtra {
  readonly loaded: LoadedTexts;
  /** True when the body came as an unread message over a WebSocket. */
  readonly isMessage: boolean;
  readonly upstream?: UpstreamPart | undefined;
}

export interface ResponseReading extends Reading {
  readonly request: GenerationRequest;
  /** The request without its items. */
  readonly response: Omit<ResponseRequest, 'generation'>;
  /** The items of earlier turns and those of the request, as JSON lists. */
  readonly context: string;
  readonly input: string;
  /** Body of the chat completion for upstream servers, as JSON. Undefined without them. */
  readonly upstream: string | undefined;
  readonly local?: WholeRequest;
}

/** The readers of requests that have items instead of messages. */
export function responseReaders(
  config: BatonConfig,
): Readonly<Record<'response' | 'compaction', EndpointReader<ResponseReading>>> {
  return {
    response: {
      name: 'response',
      read: (body, limits, extra) => readAs(config, { body, limits, extra, isCompaction: false }),
      check: (reading) => ({
        ...CALLER_MAKES_ID,
        request: reading.request,
        answer: (parts) => wholeResponse(outcomeOf(requestOf(reading), parts), parts),
      }),
    },
    compaction: {
      name: 'compaction',
      read: (body, limits, extra) => readAs(config, { body, limits, extra, isCompaction: true }),
      check: (reading) => ({
        ...CALLER_MAKES_ID,
        request: reading.request,
        answer: (parts) => compactionAnswer(reading, parts),
      }),
    },
  };
}

/** The caller makes the id of a response before it reads the body, and passes it as request id. */
const CALLER_MAKES_ID = { answerId: (id: string): string => id };

interface ReadParts {
  readonly body: unknown;
  readonly limits: Parameters<EndpointReader['read']>[1];
  readonly extra: unknown;
  readonly isCompaction: boolean;
}

function readAs(
  { refusalProbability }: BatonConfig,
  { body, limits, extra, isCompaction }: ReadParts,
): ResponseReading {
  const { loaded, isMessage, upstream: part } = extra as ResponseExtra;
  const sent = readResponse(isMessage ? messageBody(body) : body, newId, limits);
  const { draft, context } = continued(isCompaction ? asCompaction(sent) : sent, loaded);
  const local = parseResponse(draft, context, {
    ...limits,
    refusalProbability,
    upstream: part,
  });
  const { generation, own, items: _items, upstream, dto, ...rest } = local;
  return {
    request: generation,
    response: { ...rest, dto: { ...dto, input: null } },
    context: JSON.stringify(context),
    input: JSON.stringify(own),
    upstream,
    local,
  };
}

export function requestOf({ request, response }: ResponseReading): ResponseRequest {
  return { ...response, generation: request };
}

/** The finished response. */
export function outcomeOf(
  request: ResponseRequest,
  { head, plans, options }: Pick<AnswerParts, 'head' | 'plans' | 'options'>,
): ResponseOutcome {
  const [plan] = plans;
  assert(plan, 'a response has one sequence');
  return new ResponseOutcome({ request, head, plan, options }, nowSeconds);
}

/** A response in one piece. */
export function wholeResponse(
  outcome: Pick<ResponseForms, 'endResponse' | 'written'>,
  { http, plans }: Pick<AnswerParts, 'http' | 'plans'>,
): WholeAnswer {
  return new WholeAnswer(http, plans, ([result], { cachedTokens }) => {
    assert(result, 'the sequence has ended');
    return outcome.written(outcome.endResponse({ ...result, cachedTokens }));
  });
}

/** A summary of a conversation, written by the model. */
function compactionAnswer(
  { local }: ResponseReading,
  { http, head, plans, options }: AnswerParts,
): WholeAnswer {
  assert(local, 'the items are where the body was read');
  return new WholeAnswer(http, plans, ([result], { cachedTokens }) => {
    assert(result, 'the sequence has ended');
    const { plan } = result;
    return renderCompaction({ request: local, head, plan, options }, { ...result, cachedTokens });
  });
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}
