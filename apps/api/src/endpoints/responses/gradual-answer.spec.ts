import type { BatonError } from '@baton/contract';
import type { StreamedResponse } from '@baton/responses';
import type { Logger } from '@baton/telemetry';
import { expect, it, vi } from 'vitest';
import type { StreamAnswer } from '../../request/answer/stream';
import { GradualAnswer } from './gradual-answer';

it('ends a stream with an error and a line of the log when its long end cannot be written', async () => {
  const broken = new Error('cannot be rendered');
  const logged = vi.fn();
  const rendered = { keepEnd: () => undefined, isLate: true } as unknown as StreamedResponse;
  const code = await new Promise<string>((resolve) => {
    const inner = {
      tokens: () => {
        throw broken;
      },
      fail: (error: BatonError) => resolve(error.code),
    } as unknown as StreamAnswer;
    const answer = new GradualAnswer(inner, rendered, { error: logged } as unknown as Logger);
    answer.complete({ cachedTokens: 0, kvTransferParams: undefined });
  });
  expect(code).toBe('engine_error');
  expect(logged).toHaveBeenCalledWith({ err: broken }, expect.any(String));
});
