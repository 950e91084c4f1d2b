import type { BatonError } from '@baton/contract';
import { expect, it } from 'vitest';
import type { HttpAnswer } from '../../http/http-answer';
import { WholeAnswer } from './whole';

it('answers with an error of the catalogue when the thread that renders it has crashed', async () => {
  const code = await new Promise<string>((resolve) => {
    const sendError = (error: BatonError): void => resolve(error.code);
    const http = { sendError } as unknown as HttpAnswer;
    const answer = new WholeAnswer(http, [], () => Promise.reject(new Error('out of memory')));
    answer.complete({ cachedTokens: 0, kvTransferParams: undefined });
  });
  expect(code).toBe('engine_error');
});
