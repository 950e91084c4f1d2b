import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';

const LONG = 'A relay needs a baton. '.repeat(3_000);

describe('a body that is too long for the event loop', () => {
  let fixture: ApiFixture;

  beforeAll(async () => {
    fixture = await ApiFixture.start({ engines: [{ isEager: true }] });
  });

  afterAll(() => fixture.stop());

  it('is answered like a short one', async () => {
    const body = { prompt: LONG, truncate_prompt_tokens: 20, max_tokens: 3 };
    const long = await fixture.post('/v1/completions', body);
    expect(long.status).toBe(200);
    const { choices } = (await long.json()) as { choices: { text: string }[] };
    const short = await fixture.post('/v1/completions', { ...body, prompt: LONG.slice(-9_000) });
    expect(((await short.json()) as { choices: unknown }).choices).toEqual(choices);
  });

  it('is counted and tokenized', async () => {
    const answer = await fixture.post('/tokenize', { prompt: LONG });
    expect(((await answer.json()) as { count: number }).count).toBeGreaterThan(10_000);
  });

  it('is refused when it is not JSON', async () => {
    const answer = await fixture.post('/v1/chat/completions', `{"messages": ${LONG}`);
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: { message: string } };
    expect(error.message).toContain('not valid JSON');
  });
});
