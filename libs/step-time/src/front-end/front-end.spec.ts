import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passUs, VLLM_FRONT_END } from './front-end';
import { FrontEndError, frontEndFromFields } from './front-end-from-fields';

describe("vLLM's front end", () => {
  it.each([
    [128, 6_506],
    [1_024, 12_151],
    [5_000, 37_200],
  ])('takes a prompt of %i tokens %i µs', (tokens, us) => {
    expect(passUs(VLLM_FRONT_END, tokens)).toBe(us);
  });
});

describe('a user’s own front end', () => {
  it('takes the times of its fields', () => {
    const own = frontEndFromFields({ request_ms: 2.5, prompt_token_us: 4 }, 'own');
    expect(own).toEqual({
      name: 'own',
      requestUs: 2_500,
      promptTokenUs: 4,
      dispatch: 'serial',
      requestBusyUs: 0,
      promptTokenBusyUs: 0,
      serversPerEngine: 1,
    });
    expect(passUs(own, 1_000)).toBe(6_500);
    expect(frontEndFromFields({ request_ms: 0, dispatch: 'concurrent' }, 'own')).toMatchObject({
      requestUs: 0,
      promptTokenUs: 0,
      dispatch: 'concurrent',
    });
  });

  it.each([
    ['a text', 'it is not a map of fields'],
    [[1], 'it is not a map of fields'],
    [{}, "'request_ms' must be a number from 0 to 60000"],
    [{ request_ms: -1 }, "'request_ms' must be a number from 0 to 60000"],
    [{ request_ms: 1, prompt_token_us: '3' }, "'prompt_token_us' must be a number"],
    [{ request_ms: 1, dispatch: 'both' }, "'dispatch' must be one of serial, concurrent"],
    [
      { request_ms: 1, request_busy_ms: 2 },
      "'request_busy_ms' is part of 'request_ms' and must not",
    ],
    [
      { request_ms: 1, prompt_token_busy_us: 1 },
      "'prompt_token_busy_us' is part of 'prompt_token_",
    ],
    [
      { request_ms: 1, token_us: 1 },
      "'token_us' is not one of its fields (request_ms, prompt_token",
    ],
  ])('is refused with the name of the field: %j', (fields, why) => {
    const read = () => frontEndFromFields(fields, 'own.yaml');
    expect(read).toThrow(FrontEndError);
    expect(read).toThrow(`frontend own.yaml cannot be used: ${why}`);
  });

  it('takes no less time for a longer prompt', () => {
    const us = fc.integer({ min: 0, max: 60_000 });
    const tokens = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(us, us, tokens, tokens, (requestUs, promptTokenUs, one, more) => {
        const own = { requestUs, promptTokenUs };
        expect(passUs(own, one + more)).toBeGreaterThanOrEqual(passUs(own, one));
        expect(passUs(own, one)).toBeGreaterThanOrEqual(requestUs);
      }),
      { numRuns: 100 },
    );
  });
});
