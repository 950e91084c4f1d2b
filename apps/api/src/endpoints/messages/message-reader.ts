import { messageId, parseMessages, renderMessage, StreamedMessage } from '@baton/openai';
import { assert } from '@baton/kernel';
import type { Answer } from '../../request/answer/answer';
import { HttpEvents, StreamAnswer } from '../../request/answer/stream';
import { WholeAnswer } from '../../request/answer/whole';
import type { AnswerParts, EndpointReader, CheckedRequest } from '../../request/take/call';

/** The reader of requests in Anthropic's shape. */
export const messageReader: EndpointReader = {
  name: 'message',
  read: (body, limits) => ({ request: parseMessages(body, limits) }),
  check: ({ request }, limits) => ({
    request,
    answerId: (requestId) => messageId(limits.dialect, requestId),
    answer: (parts) => answerOf(request, parts),
  }),
};

function answerOf(
  request: CheckedRequest['request'],
  { http, head, plans, options }: AnswerParts,
): Answer {
  const [plan] = plans;
  assert(plan, 'a message has one sequence');
  if (request.stream) {
    return new StreamAnswer(
      new HttpEvents(http),
      new StreamedMessage({ request, head, plan, options }),
    );
  }
  return new WholeAnswer(http, plans, ([result], facts) => {
    assert(result, 'the sequence has ended');
    return renderMessage({ request, head, options }, result, facts);
  });
}
