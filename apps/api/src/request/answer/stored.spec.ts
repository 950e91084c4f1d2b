import type { BatonError } from '@baton/contract';
import type { Logger } from '@baton/telemetry';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Answer } from './answer';
import { StoredAnswer } from './stored';

const FACTS = { cachedTokens: 0, kvTransferParams: undefined };
const BROKEN = new Error('cannot be rendered');

describe('an answer that cannot be written once it is stored', () => {
  const logged = vi.fn();
  const logger = { error: logged } as unknown as Logger;

  beforeEach(() => void logged.mockClear());

  it('ends with an error for its client and a line of the log', async () => {
    const code = await new Promise<string>((resolve) => {
      const inner = {
        complete: () => {
          throw BROKEN;
        },
        fail: (error: BatonError) => resolve(error.code),
      } as unknown as Answer;
      new StoredAnswer(inner, { storeEnd: () => Promise.resolve() }, logger).complete(FACTS);
    });
    expect(code).toBe('engine_error');
    expect(logged).toHaveBeenCalledWith({ err: BROKEN }, expect.any(String));
  });

  it('leaves the process alive when the error cannot be written either', async () => {
    const inner = {
      fail: () => {
        throw BROKEN;
      },
    } as unknown as Answer;
    const keeper = { storeEnd: () => Promise.resolve(), storeFailure: () => Promise.resolve() };
    new StoredAnswer(inner, keeper, logger).fail({ code: 'engine_error' } as BatonError);
    await vi.waitFor(() => expect(logged).toHaveBeenCalledTimes(2));
  });
});
