import { objectBody, renderFinal } from '@baton/openai';
import { checkStoring, isToBeStored, storedChat } from '@baton/responses';
import { WholeAnswer } from '../../request/answer/whole';
import {
  type AnswerParts,
  type EndpointReader,
  type Reading,
  TEXT_ENDPOINTS,
} from '../../request/take/call';

interface StoredChatReading extends Reading {
  readonly isKept: boolean;
  readonly local?: { readonly body: Readonly<Record<string, unknown>>; readonly arrivalUs: number };
}

/**
 * A chat with or without `store`, because a body that is not parsed yet does not show the field.
 * The extra input of the reader is the time of arrival.
 */
export const storedChatReader: EndpointReader<StoredChatReading> = {
  name: 'stored-chat',
  read: (given, limits, arrivalUs) => {
    const { request } = TEXT_ENDPOINTS.chat.read(given, limits);
    if (!isToBeStored(given)) return { request, isKept: false };
    const body = objectBody(given);
    checkStoring(body);
    return { request, isKept: true, local: { body, arrivalUs: arrivalUs as number } };
  },
  check: (reading, limits) => {
    const checked = TEXT_ENDPOINTS.chat.check(reading, limits);
    return reading.isKept
      ? { ...checked, document: (parts) => documentOf(reading, parts) }
      : checked;
  },
};

/** A stored chat has OpenAI's shape in both dialects. */
function documentOf(
  { request, local }: StoredChatReading,
  { http, head, plans, options }: AnswerParts,
): WholeAnswer {
  const { body, arrivalUs } = local!;
  return new WholeAnswer(http, plans, (results, { cachedTokens }) => {
    const shape = { request, head, options: { ...options, dialect: 'openai' as const } };
    return storedChat(body, renderFinal(shape, results, { cachedTokens }), arrivalUs);
  });
}
