import { defaultConfig, placerSpec } from '@baton/config';
import { assert, RandomStream } from '@baton/kernel';
import { Placer, type Policy } from '@baton/policies';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../support/runs';
import {
  engineView,
  placementContext,
  placementRequest,
} from '../../libs/policies/test/test-context';

interface Given {
  readonly requests?: number;
  readonly waiting?: number;
  readonly waitingTokens?: number;
  readonly kvTokens?: number;
  readonly kvUsage?: number;
  /** Cached tokens, of a prompt of 1,000. */
  readonly cached?: number;
}

/** The engine that the example chooses, of engines `e0`, `e1` ... with these loads. */
function choice(example: string, given: readonly Given[], stage: 'prefill' | 'decode' = 'prefill') {
  return policyOf(example, stage).choose(contextOf(given, stage));
}

function policyOf(example: string, stage: 'prefill' | 'decode' = 'prefill'): Policy {
  const placement = `examples/policies/${example}.mjs` as const;
  const { prefill: own } = placerSpec(defaultConfig({ placement }));
  assert(own !== 'pull' && own.kind === 'own', 'the example is a module');
  return own.module.create({ stage, random: RandomStream.root(1) });
}

function contextOf(given: readonly Given[], stage: 'prefill' | 'decode' = 'prefill') {
  const engines = given.map(({ waiting = 0, cached: _, ...facts }, i) =>
    engineView({ engineId: `e${i}`, waitingRequests: waiting, ...facts }),
  );
  const cached = Object.fromEntries(given.map((each, i) => [`e${i}`, each.cached ?? 0]));
  return placementContext({ stage, engines, cached, request: placementRequest() });
}

/** Functions that an example exports beside its policy. */
async function partsOf(example: string): Promise<Record<string, (...given: never[]) => unknown>> {
  return (await import(`../../examples/policies/${example}.mjs`)) as never;
}

describe('the scorers of llm-d', () => {
  it('score queues between the longest and the shortest, and all 1 when they are equal', async () => {
    const { queueScores } = await partsOf('llm-d-scorers');
    const scores = (sizes: number[]) =>
      queueScores!(sizes.map((waitingRequests) => ({ waitingRequests })) as never);
    // The table of queue_test.go of the Gateway API Inference Extension.
    expect(scores([10, 5, 0])).toEqual([0, 0.5, 1]);
    expect(scores([5, 5])).toEqual([1, 1]);
    expect(scores([0, 0])).toEqual([1, 1]);
  });

  it('add up by the weights 2, 2 and 3 of the default configuration', () => {
    // 2·1 + 2·1 + 0 against 0 + 2·0.5 + 3·1: equal at a whole prefix; 999 of 1,000 loses.
    expect(
      choice('llm-d-scorers', [{ waiting: 0 }, { waiting: 9, kvUsage: 0.5, cached: 999 }]),
    ).toBe(0);
    expect(
      choice('llm-d-scorers', [{ waiting: 0 }, { waiting: 9, kvUsage: 0.4, cached: 999 }]),
    ).toBe(1);
  });

  // prefix-based-pd-decider: a prompt goes to prefill if promptTokens - hitTokens is at least
  // nonCachedTokens, where a hit has whole blocks.
  it('decide on prefill as --disaggregation-threshold nonCachedTokens - 1 does', () => {
    const placerOf = (disaggregationThreshold: number): Placer =>
      new Placer(
        {
          prefill: { kind: 'round-robin' },
          decode: { kind: 'round-robin' },
          decodeChoice: 'early',
          disaggregationThreshold,
        },
        RandomStream.root(1),
      );
    const tokens = fc.integer({ min: 1, max: 2_000 });
    fc.assert(
      fc.property(tokens, fc.nat(), fc.integer({ min: 1, max: 600 }), (prompt, hit, nonCached) => {
        const hitTokens = 16 * (hit % (Math.floor((prompt - 1) / 16) + 1));
        const contextFor = (stage: 'prefill' | 'decode') =>
          placementContext({
            stage,
            engines: [engineView({ engineId: 'e0' })],
            cached: { e0: hitTokens },
            request: placementRequest({ promptTokens: prompt }),
          });
        const { kind } = placerOf(nonCached - 1).atArrival(
          contextFor('prefill'),
          contextFor('decode'),
        );
        const isSplit = prompt - hitTokens >= nonCached;
        expect(kind).toBe(isSplit ? 'disaggregated' : 'local');
      }),
      { numRuns: runsOf(300) },
    );
  });

  it('score an engine by its adapters: running, room for one more, waiting', async () => {
    const { loraScores } = await partsOf('llm-d-scorers');
    const of = (running: string[], waiting: string[], most: number) => ({
      adapters: { running, waiting, most },
    });
    // The table of lora_affinity_test.go of the Gateway API Inference Extension.
    const engines = [
      ...[of(['a'], [], 5), of(['b'], ['a'], 5), of(['b'], [], 2), of(['c'], ['a'], 2)],
      ...[of(['d', 'e'], [], 2), of(['b'], ['c'], 2), of([], [], 0), {}],
    ];
    expect(loraScores!(engines as never, 'a' as never)).toEqual([1, 0.8, 0.8, 0.6, 0, 0, 0, 0]);
    // An adapter that is named twice takes one place.
    expect(loraScores!([of(['b'], ['b'], 2)] as never, 'a' as never)).toEqual([0.8]);
  });

  it('prefer the engine of an adapter with the weight 1', () => {
    const { engines, ...context } = contextOf([{}, {}]);
    const adapters = { running: ['sql'], waiting: [], most: 1 };
    const served = [
      { ...engines[0]!, adapters: { ...adapters, running: ['code'] } },
      { ...engines[1]!, adapters },
    ];
    const request = { ...context.request, adapter: 'sql' };
    const chosen = policyOf('llm-d-scorers').choose({ ...context, engines: served, request });
    expect(chosen).toBe(1);
  });

  it('give the engine of the session 1 and others 0', async () => {
    const { sessionScores } = await partsOf('llm-d-scorers');
    const engines = [{ engineId: 'a' }, { engineId: 'b' }];
    expect(sessionScores!(engines as never, 'b' as never)).toEqual([0, 1]);
  });
});

describe("Dynamo's KV router", () => {
  it('takes the lowest of prefill blocks plus decode blocks', async () => {
    const { logitOf } = await partsOf('dynamo-kv-router');
    const context = contextOf([{ waitingTokens: 160, kvTokens: 320, cached: 680 }]);
    const logit = logitOf!(context.engines[0] as never, context as never);
    expect(logit).toBe((160 + 320) / 16 + Math.floor((320 + 1_000) / 16));
    const loads = [
      { waitingTokens: 0, kvTokens: 800 },
      { waitingTokens: 0, cached: 0 },
    ];
    expect(choice('dynamo-kv-router', loads)).toBe(1);
    expect(choice('dynamo-kv-router', [{ ...loads[0], cached: 960 }, loads[1]!])).toBe(0);
  });

  it('draws by softmax over the logits between lowest and highest with a temperature', async () => {
    const { probabilities, sample } = await partsOf('dynamo-kv-router');
    const shares = probabilities!([10, 20, 30] as never, 0.5 as never) as number[];
    const weights = [1, Math.exp(-1), Math.exp(-2)];
    const sum = weights.reduce((a, b) => a + b, 0);
    shares.forEach((share, i) => expect(share).toBeCloseTo(weights[i]! / sum, 12));
    expect(probabilities!([7, 7] as never, 1 as never)).toEqual([0.5, 0.5]);
    expect([0, 0.6, 0.66, 0.99].map((unit) => sample!(shares as never, unit as never))).toEqual([
      0, 0, 0, 2,
    ]);
  });
});

describe("SGLang's cache-aware router", () => {
  it('is imbalanced only beyond both thresholds', async () => {
    const { isImbalanced } = await partsOf('sglang-cache-aware');
    expect(isImbalanced!([0, 64] as never)).toBe(false);
    expect(isImbalanced!([0, 65] as never)).toBe(true);
    expect(isImbalanced!([200, 300] as never)).toBe(false);
    expect(isImbalanced!([200, 301] as never)).toBe(true);
  });

  it('takes the longest prefix above 0.3 of the prompt, else the least load', () => {
    const example = 'sglang-cache-aware';
    expect(choice(example, [{ requests: 1 }, { requests: 60, cached: 301 }])).toBe(1);
    expect(choice(example, [{ requests: 1 }, { requests: 60, cached: 300 }])).toBe(0);
    expect(choice(example, [{ requests: 1 }, { requests: 66, cached: 1_000 }])).toBe(0);
  });
});

describe("AIBrix's prefix-cache router", () => {
  it('takes the fewest requests when max - min is above 16, for any cached prefixes', () => {
    // The example of its documentation: 1, 2 and 20 running requests.
    const loads = [{ requests: 1 }, { requests: 2 }, { requests: 20, cached: 999 }];
    expect(choice('aibrix-prefix-cache', loads)).toBe(0);
    expect(choice('aibrix-prefix-cache', [{ requests: 1 }, { requests: 17, cached: 99 }])).toBe(1);
  });

  it('passes over engines above mean + 2 standard deviations', async () => {
    const { mostRequests } = await partsOf('aibrix-prefix-cache');
    expect(mostRequests!([2, 4, 4, 4, 5, 5, 7, 9] as never)).toBe(5 + 2 * 2);
    const idle = Array.from({ length: 9 }, () => ({ requests: 0, cached: 16 }));
    expect(choice('aibrix-prefix-cache', [{ requests: 10, cached: 900 }, ...idle])).toBe(1);
  });
});

describe("vLLM's balancer of data-parallel ranks", () => {
  it('takes the lowest of waiting · 4 + running, the first of equal ones', () => {
    const loads = [
      { requests: 9, waiting: 1 },
      { requests: 12, waiting: 0 },
      { requests: 3, waiting: 3 },
    ];
    expect(choice('vllm-dp-balancer', loads)).toBe(0);
    expect(choice('vllm-dp-balancer', loads.slice(1))).toBe(0);
    expect(choice('vllm-dp-balancer', [{ requests: 13 }, ...loads.slice(1)])).toBe(1);
  });
});

describe("Mooncake's Conductor", () => {
  it('takes the lowest sum of queue time and time of uncached tokens', () => {
    // One token per µs: 500 + 1,000 against 1,200 + 200.
    const loads = [{ waitingTokens: 500 }, { waitingTokens: 1_200, cached: 800 }];
    expect(choice('mooncake-conductor', loads)).toBe(1);
    expect(choice('mooncake-conductor', [{ waitingTokens: 300 }, loads[1]!])).toBe(0);
  });

  it('is what the built-in prefix-aware policy computes', async () => {
    const { estimateTtftUs } = await import('@baton/policies');
    const { ttftUs } = await partsOf('mooncake-conductor');
    const context = contextOf([{ waitingTokens: 20_000, cached: 400 }, {}]);
    for (const engine of context.engines) {
      expect(ttftUs!(engine as never, context as never)).toBe(estimateTtftUs(context, engine));
    }
  });
});
