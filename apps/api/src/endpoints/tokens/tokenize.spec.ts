import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';

describe('/inference/v1/generate', () => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    fixture = await ApiFixture.start({ engines: [{ isEager: true }] });
  });
  afterAll(() => fixture.stop());

  it('gives the same output as a completion of the same ids', async () => {
    const { tokens } = (await (
      await fixture.post('/tokenize', { prompt: 'hand over' })
    ).json()) as { tokens: number[] };
    const sampling = { max_tokens: 5, ignore_eos: true };
    const body = { request_id: 'r-1', token_ids: tokens, sampling_params: sampling };
    const answer = (await (await fixture.post('/inference/v1/generate', body)).json()) as {
      request_id: string;
      choices: { token_ids: number[] }[];
    };
    expect(answer.request_id).toBe('r-1');
    const back = await fixture.post('/detokenize', { tokens: answer.choices[0]?.token_ids });
    const { choices } = (await (
      await fixture.post('/v1/completions', { prompt: tokens, ...sampling })
    ).json()) as { choices: { text: string }[] };
    expect(await back.json()).toEqual({ prompt: choices[0]?.text });
  });
});

describe('the tokenizer over HTTP', () => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    fixture = await ApiFixture.start({ config: { dialect: 'vllm' }, engines: [] });
  });
  afterAll(() => fixture.stop());

  it('encodes and decodes without an engine', async () => {
    const answer = await fixture.post('/tokenize', { prompt: 'hand over' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('application/json');
    const { tokens } = (await answer.json()) as { tokens: number[] };
    const back = await fixture.post('/detokenize', { tokens });
    expect(await back.json()).toEqual({ prompt: 'hand over' });
  });

  it('describes itself', async () => {
    const info = await fetch(`${fixture.api.url}/tokenizer_info`);
    expect(await info.json()).toHaveProperty('tokenizer_class');
  });

  it.each([
    ['/tokenize', {}],
    ['/tokenize', 'null'],
    ['/detokenize', { tokens: [-1] }],
  ])('refuses bad input of %s (%j) with 400', async (path, body) => {
    const answer = await fixture.post(path, body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: 'Bad Request', code: 400 } });
  });
});
