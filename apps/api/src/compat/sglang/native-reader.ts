import { HttpEvents, StreamAnswer } from '../../request/answer/stream';
import { WholeAnswer } from '../../request/answer/whole';
import type { EndpointReader, Reading } from '../../request/take/call';
import { isSglangBatch, parseSglangGenerate, renderSglangGenerate } from './native-request';
import { StreamedSglangGenerate } from './streamed-native';

interface SglangReading extends Reading {
  readonly isBatch: boolean;
}

/** The reader of requests in SGLang's native shape. */
export const sglangReader: EndpointReader<SglangReading> = {
  name: 'sglang',
  read: (body, limits) => ({
    request: parseSglangGenerate(body, limits),
    isBatch: isSglangBatch(body),
  }),
  check: ({ request, isBatch }) => ({
    request,
    answerId: (requestId) => requestId,
    answer: ({ http, plans, head, options }) => {
      const context = { request, head, options };
      if (request.stream) {
        const rendered = new StreamedSglangGenerate(context, plans, isBatch);
        return new StreamAnswer(new HttpEvents(http), rendered);
      }
      return new WholeAnswer(http, plans, (results, facts) =>
        renderSglangGenerate({ ...context, isBatch }, results, facts),
      );
    },
  }),
};
