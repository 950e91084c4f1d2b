import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';
import type { RequestTotals, Topology } from '@baton/policies';
import type { BatonConfig } from '@baton/config';

const TIMEOUT_MS = 5_000;
/** A page of 4,096 engines is smaller than this. */
const MOST_BYTES = 64 * 1_024 * 1_024;

/** The figures of the cluster's requests on a page of metrics. */
export interface ScrapedPage {
  readonly queued: Topology;
  /** Latencies in seconds of the wall clock. */
  readonly totals: RequestTotals;
}

/** Reads `/metrics` of the API; rejects when no page comes in time. Accepts any certificate. */
export function fetchPage(config: BatonConfig, baseUrl: string): Promise<string> {
  const get = config.sslCertfile === undefined ? getPlain : getSecure;
  const options = { timeout: TIMEOUT_MS, rejectUnauthorized: false, agent: false } as const;
  return new Promise((resolve, reject) => {
    const request = get(`${baseUrl}/metrics`, options, (answer) => {
      let page = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => {
        page += piece;
        if (page.length > MOST_BYTES) request.destroy(new Error('the page is too long'));
      });
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(page);
        else reject(new Error(`/metrics answered ${answer.statusCode}`));
      });
      answer.on('error', reject);
    });
    request.once('timeout', () => request.destroy(new Error('/metrics did not answer')));
    request.once('error', reject);
  });
}

const SAMPLE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;

/** The families that autoscalers read, summed over engines and API processes. */
export function readPage(page: string): ScrapedPage {
  const sums = new Map<string, number>();
  const queued = { prefill: 0, decode: 0, aggregated: 0 };
  for (const line of page.split('\n')) {
    if (line.startsWith('#')) continue;
    const [, name = '', labels = '', text = ''] = SAMPLE.exec(line) ?? [];
    const value = Number(text);
    if (name === '' || !Number.isFinite(value)) continue;
    if (name === 'baton:queue_depth') {
      const stage = /stage="(prefill|decode|aggregated)"/.exec(labels)?.[1];
      if (stage !== undefined) queued[stage as keyof Topology] += value;
    }
    sums.set(name, (sums.get(name) ?? 0) + value);
  }
  const of = (name: string): number => sums.get(name) ?? 0;
  const histogram = (name: string): RequestTotals['ttft'] => {
    return { sumSeconds: of(`${name}_sum`), count: of(`${name}_count`) };
  };
  return {
    queued,
    totals: {
      arrived: of('baton:sequences_opened_total'),
      finished: of('vllm:request_success_total'),
      promptTokens: of('vllm:request_prompt_tokens_sum'),
      outputTokens: of('vllm:request_generation_tokens_sum'),
      ttft: histogram('vllm:time_to_first_token_seconds'),
      itl: histogram('vllm:inter_token_latency_seconds'),
      e2el: histogram('vllm:e2e_request_latency_seconds'),
    },
  };
}
