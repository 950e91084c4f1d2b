import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Family, parseExposition, sumOf } from '../../apps/api/test/exposition';
import { stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { freePort } from '../support/free-port';

const PROMPT_TOKENS = 100;
const OUTPUT_TOKENS = 5;

describe.each([
  ['1P1D', 1],
  ['1A', 2],
])(
  'the metrics of %s with %i API processes, scraped when an answer has ended',
  (topology, fronts) => {
    let cluster: TestCluster;
    let firstPort: number;
    let page: Map<string, Family>;

    beforeAll(async () => {
      firstPort = await freePort(2);
      const ports = ['--expose-engines', `--expose-engines-port=${firstPort}`];
      cluster = await TestCluster.start({
        topology,
        flags: [...PLAIN_STEPS, `--api-processes=${fronts}`, ...ports],
      });
    });

    afterAll(() => cluster?.stop());

    async function scrape(url: string): Promise<void> {
      page = parseExposition(await (await fetch(`${url}/metrics`)).text());
    }

    const of = (name: string): number => sumOf(page, name);

    it('have the request in all counters, those of its engines included', async () => {
      const stages = topology === '1A' ? 1 : 2;
      for (let requests = 1; requests <= 5; requests += 1) {
        const prompt = Array.from({ length: PROMPT_TOKENS }, (_, i) => requests * 1_000 + i);
        const body = { prompt, max_tokens: OUTPUT_TOKENS, ignore_eos: true };
        await stream(`${cluster.baseUrl}/v1/completions`, body);
        await scrape(cluster.baseUrl);
        const prompts = requests * PROMPT_TOKENS;
        const tokens = requests * OUTPUT_TOKENS;
        expect(of('vllm:request_success_total')).toBe(requests);
        expect(of('vllm:request_prompt_tokens_sum')).toBe(prompts);
        expect(of('vllm:prompt_tokens_total')).toBe(stages * prompts);
        expect(of('vllm:prefix_cache_queries_total')).toBeGreaterThanOrEqual(prompts);
        expect(of('vllm:generation_tokens_total')).toBe(tokens);
        expect(of('vllm:iteration_tokens_total_sum')).toBe(prompts + tokens);
        expect(of('vllm:request_num_preemptions_count')).toBe(requests);
      }
    });

    it('have it also at the port of its engine', async () => {
      const answering = topology === '1A' ? firstPort : firstPort + 1;
      await scrape(`http://127.0.0.1:${answering}`);
      const before = of('vllm:generation_tokens_total');
      const body = { prompt: 'x', max_tokens: OUTPUT_TOKENS, ignore_eos: true };
      await stream(`${cluster.baseUrl}/v1/completions`, body);
      await scrape(`http://127.0.0.1:${answering}`);
      expect(of('vllm:generation_tokens_total')).toBe(before + OUTPUT_TOKENS);
      expect(of('vllm:request_generation_tokens_sum')).toBe(before + OUTPUT_TOKENS);
    });
  },
);
