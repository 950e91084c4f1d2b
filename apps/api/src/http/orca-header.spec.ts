import type { EnginePresence } from '@baton/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../test/api-fixture';
import { orcaHeader } from './orca-header';

const engine = (kvUsage: number, waitingCapacity: number): EnginePresence =>
  ({ gauges: { kvUsage, waitingCapacity, waitingDeferred: 1 } }) as EnginePresence;
const ENGINES = [engine(0.25, 2), engine(0.5, 0)];

describe('the load of the cluster in a header', () => {
  it.each([
    ['TEXT', 'TEXT named_metrics.kv_cache_usage_perc=0.5, named_metrics.num_requests_waiting=4.0'],
    ['json', 'JSON {"named_metrics": {"kv_cache_usage_perc": 0.5, "num_requests_waiting": 4.0}}'],
    ['BIN', undefined],
    [undefined, undefined],
  ])('is in the format that was asked for: %s', (format, header) => {
    const headers = format === undefined ? {} : { 'endpoint-load-metrics-format': format };
    expect(orcaHeader(headers, ENGINES)).toBe(header);
  });

  describe('of answers', () => {
    let fixture: ApiFixture;
    afterEach(() => fixture.stop());

    it.each([false, true])(
      'comes with those whose request asks for it (stream: %s)',
      async (stream) => {
        fixture = await ApiFixture.start({ engines: [{ isEager: true }] });
        const body = { prompt: 'x', max_tokens: 2, stream };
        const headers = { 'endpoint-load-metrics-format': 'TEXT' };
        const asked = await fixture.post('/v1/completions', body, { headers });
        expect(asked.headers.get('endpoint-load-metrics')).toMatch(
          /^TEXT named_metrics\.kv_cache_usage_perc=/,
        );
        const plain = await fixture.post('/v1/completions', body);
        expect(plain.headers.get('endpoint-load-metrics')).toBeNull();
      },
    );
  });
});

describe('X-Vllm-Priority', () => {
  let fixture: ApiFixture;
  afterEach(() => fixture.stop());

  it.each([
    ['5', undefined, 5],
    ['-3', 7, -3],
    ['soon', 7, 7],
    [undefined, 7, 7],
  ])('of %s beside a priority of %s makes %i', async (header, priority, made) => {
    fixture = await ApiFixture.start();
    const headers = header === undefined ? {} : { 'x-vllm-priority': header };
    const body = { prompt: 'x', max_tokens: 2, ...(priority === undefined ? {} : { priority }) };
    const answer = fixture.post('/v1/completions', body, { headers });
    const run = await fixture.engine.next();
    expect(run.job.priority).toBe(made);
    await run.play();
    expect((await answer).status).toBe(200);
  });
});
