import type { Stage } from '@baton/contract';

/** Sum and number of the observations of a histogram. */
export interface Seen {
  readonly sum: number;
  readonly count: number;
}

/** Parts of the time to the first token, end to end, as Baton counts them; docs/metrics.md. */
export const PARTS = ['queue', 'prefill', 'transfer', 'first_step'] as const;
export type Part = (typeof PARTS)[number];

/**
 * The counters of a page of metrics that a calibration uses, in seconds and bytes, summed over all
 * engines.
 */
export interface Counters {
  readonly running: number;
  readonly waiting: number;
  readonly succeeded: number;
  readonly parts: Readonly<Record<Part, Seen>>;
  /** vLLM: from the first batch to the first token. */
  readonly prefillSeconds: Seen;
  readonly transferSeconds: Seen;
  readonly transferBytes: Seen;
  /** Engines that accept work, by stage. Undefined for a server without stages. */
  readonly engines: Readonly<Record<Stage, number>> | undefined;
  /** KV blocks of one engine, and tokens in each. Undefined when the page has no such metric. */
  readonly kvBlocks: { readonly blocks: number; readonly tokens: number } | undefined;
}

interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

const READY = /state="ready"/;
const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)/;

/** Reads a page in the text format of Prometheus. Undefined when it has none of vLLM's families. */
export function countersIn(page: string): Counters | undefined {
  const samples = page.split('\n').flatMap(sampleOf);
  const running = samples.filter(({ name }) => name === 'vllm:num_requests_running');
  if (running.length === 0) return undefined;
  const sum = (name: string, label = ''): number => {
    const own = samples.filter((each) => each.name === name && each.labels.includes(label));
    return own.reduce((total, { value }) => total + value, 0);
  };
  const seen = (name: string, label?: string): Seen => {
    return { sum: sum(`${name}_sum`, label), count: sum(`${name}_count`, label) };
  };
  const part = (name: Part): Seen =>
    seen('baton:time_to_first_token_part_seconds', `part="${name}"`);
  return {
    running: sum('vllm:num_requests_running'),
    waiting: sum('vllm:num_requests_waiting'),
    succeeded: sum('vllm:request_success_total'),
    parts: {
      queue: part('queue'),
      prefill: part('prefill'),
      transfer: part('transfer'),
      first_step: part('first_step'),
    },
    prefillSeconds: seen('vllm:request_prefill_time_seconds'),
    transferSeconds: seen('vllm:nixl_xfer_time_seconds'),
    transferBytes: seen('vllm:nixl_bytes_transferred'),
    engines: enginesIn(samples),
    kvBlocks: kvBlocksIn(samples),
  };
}

function enginesIn(samples: readonly Sample[]): Counters['engines'] {
  const own = samples.filter(({ name }) => name === 'baton:engines');
  if (own.length === 0) return undefined;
  const of = (stage: Stage): number =>
    own
      .filter(({ labels }) => labels.includes(`stage="${stage}"`) && READY.test(labels))
      .reduce((sum, { value }) => sum + value, 0);
  return { prefill: of('prefill'), decode: of('decode'), aggregated: of('aggregated') };
}

function sampleOf(line: string): Sample[] {
  const [, name, labels = '', value] = LINE.exec(line) ?? [];
  return name === undefined ? [] : [{ name, labels, value: Number(value) }];
}

function kvBlocksIn(samples: readonly Sample[]): Counters['kvBlocks'] {
  const info = samples.find(({ name }) => name === 'vllm:cache_config_info');
  const number = (label: string): number =>
    Number(new RegExp(`${label}="(\\d+)"`).exec(info?.labels ?? '')?.[1]);
  const [blocks, tokens] = [number('num_gpu_blocks'), number('block_size')];
  return blocks > 0 && tokens > 0 ? { blocks, tokens } : undefined;
}

/** The one new observation in ms. Undefined for none or several. */
export function onlyNewMs(before: Seen, after: Seen): number | undefined {
  return after.count - before.count === 1 ? (after.sum - before.sum) * 1_000 : undefined;
}
