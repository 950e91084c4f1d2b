import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture, readStream } from '../../../test/api-fixture';

const REQUESTS = 7;
const TOKENS = 5;

describe('/metrics after some requests', () => {
  let fixture: ApiFixture;
  let text: string;
  let contentType: string;

  beforeAll(async () => {
    fixture = await ApiFixture.start({
      engines: [{ isEager: true }, { stage: 'prefill', index: 1 }],
    });
    for (let i = 0; i < REQUESTS; i += 1) {
      const body = { prompt: 'one two three', max_tokens: TOKENS, ignore_eos: true, stream: true };
      await readStream(await fixture.post('/v1/completions', body));
    }
    await fixture.post('/v1/completions', '{');
    const answer = await fetch(`${fixture.api.url}/metrics`);
    contentType = answer.headers.get('content-type') ?? '';
    text = await answer.text();
  });

  afterAll(() => fixture.stop());

  const valueOf = (series: string): number => {
    const line = text.split('\n').find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length));
  };
  const engine = '{engine="0",model_name="llama-3.1-8b"}';

  it('has the format that a scraper asks for', () => {
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it('counts as vLLM does: a first token per request, a gap per further token', () => {
    expect(valueOf(`vllm:time_to_first_token_seconds_count${engine}`)).toBe(REQUESTS);
    expect(valueOf(`vllm:inter_token_latency_seconds_count${engine}`)).toBe(
      REQUESTS * (TOKENS - 1),
    );
    expect(valueOf(`vllm:request_generation_tokens_sum${engine}`)).toBe(REQUESTS * TOKENS);
    expect(valueOf(`vllm:request_prompt_tokens_sum${engine}`)).toBe(REQUESTS * 3);
    expect(valueOf(`vllm:e2e_request_latency_seconds_count${engine}`)).toBe(REQUESTS);
    expect(valueOf(`baton:request_overhead_seconds_count${engine}`)).toBe(REQUESTS);
  });

  it('has every finished reason from the start, with 0', () => {
    const success = (index: number, reason: string): number =>
      valueOf(
        `vllm:request_success_total{engine="${index}",model_name="llama-3.1-8b",` +
          `finished_reason="${reason}"}`,
      );
    expect(success(0, 'length')).toBe(REQUESTS);
    for (const reason of ['stop', 'abort', 'error', 'repetition', 'cache_threshold']) {
      expect(success(0, reason)).toBe(0);
      expect(success(1, reason)).toBe(0);
    }
  });

  it('counts HTTP answers by handler and class of status', () => {
    const requests = (status: string): number =>
      valueOf(`http_requests_total{method="POST",status="${status}",handler="/v1/completions"}`);
    expect(requests('2xx')).toBe(REQUESTS);
    expect(requests('4xx')).toBe(1);
  });

  it('names every family once, with its text and type before its series', () => {
    const types = text.split('\n').filter((line) => line.startsWith('# TYPE '));
    const names = types.map((line) => line.split(' ')[2] ?? '');
    expect(new Set(names).size).toBe(names.length);
    let family = '';
    for (const line of text.split('\n').filter((each) => each !== '')) {
      if (line.startsWith('# TYPE ')) family = line.split(' ')[2] ?? '';
      else if (!line.startsWith('#')) expect(line.startsWith(family)).toBe(true);
    }
  });

  it('counts buckets cumulatively up to the count', () => {
    const buckets = text
      .split('\n')
      .filter((line) => line.startsWith('vllm:inter_token_latency_seconds_bucket'))
      .filter((line) => line.includes('engine="0"'))
      .map((line) => Number(line.slice(line.lastIndexOf(' '))));
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b));
    expect(buckets.at(-1)).toBe(REQUESTS * (TOKENS - 1));
  });
});
