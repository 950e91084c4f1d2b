import { findGpu, findModel } from '@baton/hardware';
import { PrefixMemory } from '@baton/policies';
import { buildStepTimeModel, prefillUs } from '@baton/step-time';
import { openTrace, type Workload } from '@baton/workload';
import { readLines, rowsOf } from './files';
import type { Finding } from './finding';

const FIGURES = ['published', 'mooncake_fast25_fig8_fig9.csv'];
export const BLOCK_TOKENS = 512;
/** vLLM's default budget: long prompts are computed in chunks of it. */
const CHUNK_TOKENS = 8_192;

/** The released traces of the paper that ship. Tool&agent is not among them. */
const TRACES = {
  conversation: 'mooncake_conversation_trace.jsonl',
  synthetic: 'mooncake_synthetic_trace.jsonl',
};

export type TraceName = keyof typeof TRACES;

/** Aims in points, for the synthetic trace only: its prefixes were not rounded in the release. */
export const HIT_RATE_AIM = { synthetic: 2, conversation: undefined } as const;

export function traceOf(name: TraceName): Workload {
  const reader = openTrace('mooncake', { file: TRACES[name] });
  readLines('traces', TRACES[name]).forEach((line, i) => reader.push(line, i + 1));
  return reader.finishTrace().workload;
}

/**
 * Figure 9 of Mooncake (FAST 2025): share of all prompt tokens that one LRU cache of a given
 * capacity saves.
 */
export function hitRates(): Finding[] {
  return traceNames().flatMap((name) => {
    const trace = traceOf(name);
    return published('9', name, (series) => series.includes('LRU')).map((row) => {
      const capacityTokens = Number(row['x']);
      const aim = HIT_RATE_AIM[name];
      return {
        part: 'Mooncake, figure 9: hit rate of an LRU cache by capacity',
        what: `${name}, ${capacityTokens.toExponential(0).replace('+', '')} tokens`,
        theirs: Number(row['y']),
        ours: 100 * hitRate(trace, capacityTokens),
        unit: '%',
        ...(aim === undefined ? {} : { aim }),
      };
    });
  });
}

function hitRate(trace: Workload, capacityTokens: number): number {
  const cache = new PrefixMemory(Math.floor(capacityTokens / BLOCK_TOKENS));
  let [hits, tokens] = [0, 0];
  for (let row = 0; row < trace.count; row++) {
    const prompt = trace.promptTokens[row]!;
    const range = blocksOf(trace, row);
    hits += Math.min(prompt, cache.match(range) * BLOCK_TOKENS);
    tokens += prompt;
    cache.record(range);
  }
  return hits / tokens;
}

/**
 * Figure 8: GPU time of prefill per request, without a cache (vLLM) and with an unlimited one
 * (Mooncake), on the A100 model. The paper's machines were A800, with the same compute rate.
 */
export function prefillSeconds(): Finding[] {
  const seconds = prefillSecondsOf();
  return traceNames().flatMap((name) => {
    const trace = traceOf(name);
    const part = 'Mooncake, figure 8: prefill GPU seconds per request';
    return [
      {
        part,
        what: `${name}, no cache (vLLM)`,
        theirs: publishedSeconds(name, 'vLLM'),
        ours: mean(trace, seconds, 0),
        unit: 's',
      },
      {
        part,
        what: `${name}, global cache (Mooncake)`,
        theirs: publishedSeconds(name, 'Mooncake'),
        ours: mean(trace, seconds, Infinity),
        unit: 's',
      },
    ];
  });
}

/** GPU time of a prompt of this many tokens behind the cached ones, in seconds. */
export function prefillSecondsOf(): (tokens: number, cached: number) => number {
  const placement = { model: findModel('llama-3.1-70b'), gpu: findGpu('a100'), tp: 8 };
  const stepTime = buildStepTimeModel({ kind: 'calibrated' }, placement);
  return (tokens, cached) =>
    prefillUs(stepTime, { tokens: tokens - cached, cached }, CHUNK_TOKENS) / 1e6;
}

/** A bar of figure 8. */
export function publishedSeconds(name: TraceName, series: string): number {
  return Number(published('8', name, (each) => each === series)[0]?.['y']);
}

function mean(
  trace: Workload,
  seconds: (tokens: number, cached: number) => number,
  capacityBlocks: number,
): number {
  const cache = new PrefixMemory(Math.min(capacityBlocks, trace.contentCount));
  let sum = 0;
  for (let row = 0; row < trace.count; row++) {
    const prompt = trace.promptTokens[row]!;
    const range = blocksOf(trace, row);
    sum += seconds(prompt, Math.min(prompt - 1, cache.match(range) * BLOCK_TOKENS));
    cache.record(range);
  }
  return sum / trace.count;
}

function blocksOf(trace: Workload, row: number): Parameters<PrefixMemory['match']>[0] {
  const blockFrom = trace.contentStart[row]!;
  const blockCount = trace.contentStart[row + 1]! - blockFrom;
  return { blockHashes: trace.contentIds, blockFrom, blockCount };
}

export function published(
  figure: string,
  workload: TraceName,
  isMeant: (series: string) => boolean,
): Readonly<Record<string, string>>[] {
  return rowsOf(...FIGURES).filter(
    (row) =>
      row['figure'] === figure && row['workload'] === workload && isMeant(row['series'] ?? ''),
  );
}

export function traceNames(): TraceName[] {
  return Object.keys(TRACES) as TraceName[];
}
