import { parseGenerate, renderGenerate, StreamedGenerate } from '@baton/openai';
import { HttpEvents, StreamAnswer } from '../../request/answer/stream';
import { WholeAnswer } from '../../request/answer/whole';
import type { EndpointReader } from '../../request/take/call';

/** The reader of requests with token ids in and out. */
export const tokenReader: EndpointReader = {
  name: 'tokens',
  read: (body, limits) => ({ request: parseGenerate(body, limits) }),
  check: ({ request }) => ({
    request,
    answerId: (requestId) => requestId,
    answer: ({ http, plans, head, options }) =>
      request.stream
        ? new StreamAnswer(
            new HttpEvents(http),
            new StreamedGenerate(request, head, plans, options),
          )
        : new WholeAnswer(http, plans, (results, facts) =>
            renderGenerate({ request, head, options }, results, facts),
          ),
  }),
};
