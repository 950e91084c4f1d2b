import type { HttpAnswer } from '../../http/http-answer';
import type { Answer, AnswerFacts, SequenceEnd } from './answer';

/** Renders the body of an answer in one piece, without a connection. */
export function writtenBody(
  make: (http: HttpAnswer) => Answer,
  ends: readonly SequenceEnd[],
  facts: AnswerFacts,
): string {
  let body = '';
  const http = { sendJson: (text: string) => (body = text) } as unknown as HttpAnswer;
  const answer = make(http);
  for (const { span, reason } of ends) answer.endSequence(span, reason);
  answer.complete(facts);
  return body;
}
