import { simulate, scenarioOf } from '@baton/simulation';
import { type BatonConfig, defaultConfig } from '@baton/config';
import { KvPool, KvPoolMember, PoolFind } from '@baton/kvcache';
import type { Workload } from '@baton/workload';
import type { Finding } from './finding';
import {
  BLOCK_TOKENS,
  HIT_RATE_AIM,
  prefillSecondsOf,
  published,
  publishedSeconds,
  traceNames,
  traceOf,
} from './mooncake';

/** Machines of the paper, each one engine of eight GPUs. */
export const NODES = 16;
export const TERABYTE_GIB = 1e12 / 2 ** 30;

/**
 * The paper's machines: 4 × 200 Gbit/s for eight GPUs, of which its transfer engine reaches 90 %
 * (figure 12); 1 TB of host memory each. Half of them prefill.
 */
export const MACHINES = {
  model: 'llama-3.1-70b',
  gpu: 'a100',
  tensorParallelSize: 8,
  blockSize: BLOCK_TOKENS,
  stepTime: 'calibrated',
  // The longest prompt has 191 thousand tokens. A refused one would count as computed.
  maxModelLen: 262_144,
  link: 'infiniband-hdr',
  kvPoolBandwidth: (0.9 * 4 * 25) / 8,
} satisfies Partial<BatonConfig>;

/**
 * Figure 9 with the capacity spread over the memory of 16 engines. Requests visit them in turn, and
 * a block has one copy.
 */
export function pooledHitRates(): Finding[] {
  return traceNames().flatMap((name) => {
    const trace = traceOf(name);
    const aim = HIT_RATE_AIM[name];
    return published('9', name, (series) => series.includes('LRU')).map((row) => {
      const capacityTokens = Number(row['x']);
      return {
        part: `Mooncake, figure 9: hit rate of a KV pool over ${NODES} engines`,
        what: `${name}, ${capacityTokens.toExponential(0).replace('+', '')} tokens`,
        theirs: Number(row['y']),
        ours: 100 * pooledHitRate(trace, capacityTokens),
        unit: '%',
        ...(aim === undefined ? {} : { aim }),
      };
    });
  });
}

function pooledHitRate(trace: Workload, capacityTokens: number): number {
  const pool = new KvPool();
  const terms = {
    blocks: Math.max(1, Math.floor(capacityTokens / BLOCK_TOKENS / NODES)),
    bytesPerBlock: 1,
    bytesPerSecond: Infinity,
    latencyUs: 0,
    balancingThreshold: 1,
    replicas: 1,
  };
  const members = Array.from({ length: NODES }, (_, node) => new KvPoolMember(terms, pool, node));
  const found = new PoolFind();
  let [hits, tokens] = [0, 0];
  for (let row = 0; row < trace.count; row++) {
    const member = members[row % NODES]!;
    const prompt = trace.promptTokens[row]!;
    const from = trace.contentStart[row]!;
    const range = { from, count: trace.contentStart[row + 1]! - from };
    member.find(trace.contentIds, range, found);
    hits += Math.min(prompt, found.length * BLOCK_TOKENS);
    tokens += prompt;
    member.fetch(found, row);
    member.keep(trace.contentIds, range);
  }
  return hits / tokens;
}

/**
 * Figure 8 on a replayed cluster: the tokens that the engines found, each in its own cache or in a
 * KV pool, and the GPU time of the rest of each prompt.
 */
export function pooledPrefillSeconds(): Finding[] {
  const part = `Mooncake, figure 8: prefill GPU seconds per request, ${NODES} engines replayed`;
  return traceNames().flatMap((name) => {
    const trace = traceOf(name);
    const bar = (series: string, what: string, config: Partial<BatonConfig>): Finding => ({
      part,
      what: `${name}, ${what}`,
      theirs: publishedSeconds(name, series),
      ours: meanSeconds(trace, config),
      unit: 's',
    });
    return [
      bar('vLLM prefix caching', 'caches of the engines (vLLM prefix caching), 16A', {
        topology: `${NODES}A`,
      }),
      bar('Mooncake', 'KV pool (Mooncake), 8P8D', {
        topology: `${NODES / 2}P${NODES / 2}D`,
        kvPool: 'global',
        kvOffloadingSize: TERABYTE_GIB,
      }),
    ];
  });
}

function meanSeconds(trace: Workload, config: Partial<BatonConfig>): number {
  const { log } = simulate(scenarioOf(defaultConfig({ ...MACHINES, ...config }), trace));
  const secondsOf = prefillSecondsOf();
  let sum = 0;
  for (let row = 0; row < log.count; row++) {
    sum += secondsOf(log.promptTokens[row]!, log.cachedTokens[row]!);
  }
  return sum / log.count;
}
