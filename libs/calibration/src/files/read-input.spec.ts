import { decodeStep, prefillStep } from '../fits/measured-step';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { InputOptions } from '../formats/measured';
import { readInput } from './read-input';

const folder = mkdtempSync(join(tmpdir(), 'baton-calibrate-'));
const OPTIONS: InputOptions = { maxNumBatchedTokens: 8192 };

function fileWith(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const read = (name: string, content: unknown, options: Partial<InputOptions> = {}) =>
  readInput(fileWith(name, content), undefined, { ...OPTIONS, ...options });

describe('our CSV', () => {
  const HEADER = 'phase,batch_size,tokens_or_context,cached_prefix,latency_ms';

  it('has a step per row, with an optional cached prefix', () => {
    const { format, steps } = read('a.csv', `${HEADER}\ndecode,8,1000,,9.5\nprefill,2,64,32,7\n\n`);
    expect(format).toBe('csv');
    expect(steps).toEqual([
      decodeStep(8, 8000, 9.5),
      prefillStep({ count: 2, tokens: 64, cached: 32, ms: 7 }),
    ]);
  });

  it('may omit the prefix and use shorter names of columns', () => {
    const { steps } = read('b.csv', 'phase,batch_size,tokens,ms\nprefill,1,64,7\n');
    expect(steps).toEqual([prefillStep({ tokens: 64, ms: 7 })]);
  });

  it('with several placements gives the chosen one, by any of its names', () => {
    const csv = [
      `gpu,model,tp,${HEADER}`,
      'H100-SXM-80GB,Llama-3.1-8B,1,decode,1,100,0,5',
      'H100-SXM-80GB,Llama-3.1-8B,2,decode,1,100,0,4',
      'a home-made card,Llama-3.1-8B,2,decode,1,100,0,3',
    ].join('\n');
    const { steps } = read('c.csv', csv, { gpu: 'h100', model: 'llama-3.1-8b', tp: 2 });
    expect(steps).toEqual([decodeStep(1, 100, 4)]);
    expect(() => read('c.csv', csv, { tp: 2 })).toThrow('choose one with --model, --gpu and --tp');
    expect(() => read('c.csv', csv, { tp: 3 })).toThrow('none matches; choose one');
  });

  it.each([
    ['an unknown column', `${HEADER},colour\n`, "1: unknown column 'colour'; use phase"],
    ['a missing column', 'phase,batch_size\n', '1: the columns tokens_or_context, latency_ms'],
    [
      'a negative time',
      `${HEADER}\ndecode,1,9,0,-1\n`,
      "2: latency_ms must be a number above 0, not '-1'",
    ],
    [
      'a time that is not a number',
      `${HEADER}\ndecode,1,9,0,NaN\n`,
      "latency_ms must be a number above 0, not 'NaN'",
    ],
    [
      'an empty cell',
      `${HEADER}\ndecode,,9,0,1\n`,
      "2: batch_size must be a number above 0, not ''",
    ],
    [
      'another phase',
      `${HEADER}\nboth,1,9,0,1\n`,
      "2: phase must be prefill or decode, not 'both'",
    ],
    ['no rows', `${HEADER}\n`, 'holds no measurements'],
  ])('is refused with %s', (_, csv, sentence) => {
    expect(() => read('bad.csv', csv)).toThrow(sentence);
  });
});

describe("xPyD-sim's points", () => {
  const POINTS = `
prefill:
  - {batch_size: 512, delay_ms: 20}
kv_transfer:
  - {batch_size: 1000, delay_ms: 4}
decode:
  - {batch_size: 4, context_length: 500, delay_per_token_ms: 8}
`;

  it('are steps, and transfers apart', () => {
    const { format, steps, transfers } = read('points.yaml', POINTS);
    expect(format).toBe('xpyd');
    expect(steps).toEqual([prefillStep({ tokens: 512, ms: 20 }), decodeStep(4, 2000, 8)]);
    expect(transfers).toEqual([{ tokens: 1000, ms: 4 }]);
  });

  it.each([
    ['an unknown section', 'prefill: []\nencode: []\n', "unknown section 'encode'"],
    ['no list', 'prefill: 5\n', 'prefill must be a list of points'],
    ['a missing number', 'prefill: [{batch_size: 5}]\n', 'delay_ms of point 1 in prefill must be'],
    ['a negative one', 'decode: [{batch_size: -1}]\n', 'batch_size of point 1 in decode must be'],
  ])('are refused with %s', (_, yaml, sentence) => {
    expect(() => read('bad.yaml', yaml)).toThrow(sentence);
  });
});

describe('vllm bench serve', () => {
  const DETAILS = {
    max_concurrency: 1,
    completed: 2,
    total_input_tokens: 1500,
    total_output_tokens: 12,
    input_lens: [1000, 500],
    output_lens: [6, 6],
    ttfts: [0.05, 0.03],
    itls: [Array(5).fill(0.008), Array(5).fill(0.0075)],
    errors: ['', ''],
  };
  const AGGREGATES = {
    max_concurrency: 32,
    completed: 100,
    total_input_tokens: 100_000,
    total_output_tokens: 20_000,
    output_throughput: 3000,
    mean_itl_ms: 10,
    median_itl_ms: 9,
    median_ttft_ms: 80,
  };

  it('gives a prefill and a decode point of each detailed request, one at a time', () => {
    const { format, steps, notes } = read('detailed.json', DETAILS);
    expect(format).toBe('vllm-bench');
    expect(notes).toEqual([]);
    expect(steps.map(({ prefillTokens, ms }) => [prefillTokens, Number(ms.toFixed(6))])).toEqual([
      [1000, 50],
      [500, 30],
      [0, 8],
      [0, 7.5],
    ]);
  });

  it('with start times gives points of batches, and leaves failed requests out', () => {
    const run = {
      ...DETAILS,
      max_concurrency: 8,
      start_times: [10, 10],
      ttfts: [0.05, 0.05],
      itls: [Array(5).fill(0.008), Array(5).fill(0.008)],
    };
    const { steps, notes } = read('timed.json', run);
    expect(steps).toHaveLength(1);
    expect(steps[0]).toMatchObject({ decodeSeqs: 2, decodeContext: 1500 + 2 * 3 });
    expect(notes.join()).toContain('none of 2 requests ran alone');
    const failed = read('failed.json', { ...run, errors: ['', 'timeout'] });
    expect(failed.steps.map((step) => step.decodeSeqs)).toEqual([0, 1]);
  });

  it('without details gives one decode point by Little’s law, with a note', () => {
    const { steps, notes } = read('summary.json', AGGREGATES);
    expect(steps).toEqual([decodeStep(30, 30 * 1100, 9)]);
    expect(notes).toEqual([
      expect.stringContaining(
        'summary.json (not saved with --save-detailed): it has no times of single requests, ' +
          'and so gives one decode point;',
      ),
    ]);
    const one = read('one.json', { ...AGGREGATES, max_concurrency: 1 });
    expect(one.steps).toEqual([decodeStep(1, 1100, 9), prefillStep({ tokens: 1000, ms: 80 })]);
  });

  it('may hold several results, one per line', () => {
    const lines = [AGGREGATES, AGGREGATES].map((run) => JSON.stringify(run)).join('\n');
    expect(read('appended.json', lines).steps).toHaveLength(2);
  });

  it('of another kind is refused', () => {
    expect(() => read('short.json', { completed: 3 })).toThrow('total_input_tokens');
    const lines = '{"completed": 1}\n{oops';
    expect(() => read('lines.json', lines)).toThrow('lines.json:2 is not a JSON');
  });
});

describe('guidellm', () => {
  const request = (start: number) => ({
    request_start_time: start,
    prompt_tokens: 256,
    output_tokens: 21,
    time_to_first_token_ms: 40,
    inter_token_latency_ms: 7,
  });
  const statistics = (mean: number) => ({ successful: { mean, median: mean } });

  it('gives points of requests, whose gaps are means', () => {
    const report = { benchmarks: [{ requests: { successful: [request(1), request(5)] } }] };
    const { format, steps } = read('benchmarks.json', report);
    expect(format).toBe('guidellm');
    expect(steps.map(({ prefillTokens, decodeSeqs }) => [prefillTokens, decodeSeqs])).toEqual([
      [256, 0],
      [256, 0],
      [0, 1],
      [0, 1],
    ]);
    expect(steps[2]!.ms).toBeCloseTo(7, 9);
  });

  it('gives one point of a benchmark without requests, also from YAML', () => {
    const yaml = `
benchmarks:
  - requests: {successful: []}
    metrics:
      prompt_token_count: {successful: {mean: 100}}
      output_token_count: {successful: {mean: 50}}
      output_tokens_per_second: {successful: {mean: 500}}
      inter_token_latency_ms: {successful: {mean: 8, median: 7.5}}
`;
    expect(read('benchmarks.yaml', yaml).steps).toEqual([decodeStep(4, 500, 7.5)]);
  });

  it('gives points of a single stream', () => {
    const metrics = {
      prompt_token_count: statistics(100),
      output_token_count: statistics(50),
      request_concurrency: statistics(1),
      inter_token_latency_ms: statistics(8),
      time_to_first_token_ms: statistics(30),
    };
    expect(read('single.json', { benchmarks: [{ metrics }] }).steps).toEqual([
      decodeStep(1, 125, 8),
      prefillStep({ tokens: 100, ms: 30 }),
    ]);
  });

  it('is refused without benchmarks or figures', () => {
    const empty = fileWith('empty.json', { benchmarks: [{}] });
    expect(() => readInput(empty, 'guidellm', OPTIONS)).toThrow('neither requests nor');
    const other = fileWith('other.json', { a: 1 });
    expect(() => readInput(other, 'guidellm', OPTIONS)).toThrow('has no list of benchmarks');
  });
});

describe('aiperf', () => {
  const record = (startMs: number, more: object = {}) =>
    JSON.stringify({
      metadata: { request_start_ns: startMs * 1e6, benchmark_phase: 'profiling' },
      metrics: {
        input_sequence_length: { value: 550, unit: 'tokens' },
        output_sequence_length: { value: 9, unit: 'tokens' },
        time_to_first_token: { value: 0.05, unit: 's' },
        inter_chunk_latency: { value: Array(8).fill(5), unit: 'ms' },
      },
      error: null,
      ...more,
    });
  const CSV = [
    'Metric,avg,min,max,p99,p50',
    'Time to First Token (ms),18.2,11,106,68,12',
    'Inter Token Latency (ms),12.0,10,15,14,11.5',
    'Input Sequence Length (tokens),200,200,200,200,200',
    'Output Sequence Length (tokens),100,100,100,100,100',
    '',
    'Metric,Value',
    'Output Token Throughput (tokens/sec),1000',
  ].join('\n');

  it('records give points in their units, without failed and warm-up requests', () => {
    const lines = [
      record(0),
      record(1000, { error: { code: 500 } }),
      record(2000, { metadata: { request_start_ns: 2e9, benchmark_phase: 'warmup' } }),
      record(3000),
    ].join('\n');
    const { format, steps } = read('profile_export.jsonl', lines);
    expect(format).toBe('aiperf');
    expect(steps.map(({ ms }) => ms)).toEqual([50, 50, 5, 5]);
  });

  it('summaries give one point, as JSON and as CSV', () => {
    const summary = {
      schema_version: '1.5',
      time_to_first_token: { unit: 'ms', avg: 18, p50: 12 },
      inter_token_latency: { unit: 'us', avg: 12_000, p50: 11_500 },
      input_sequence_length: { unit: 'tokens', avg: 200 },
      output_sequence_length: { unit: 'tokens', avg: 100 },
      output_token_throughput: { unit: 'tokens/sec', avg: 1000 },
    };
    const expected = [decodeStep(12, 12 * 250, 11.5)];
    expect(read('profile_export_aiperf.json', summary).steps).toEqual(expected);
    expect(read('profile_export_aiperf.csv', CSV).steps).toEqual(expected);
  });

  it('is refused without a finished request, or without lengths', () => {
    expect(() =>
      read('failed.jsonl', `${record(0, { error: {} })}\n${record(1, { error: {} })}`),
    ).toThrow('no record of a finished request');
    const csv = CSV.replace('Input Sequence Length', 'Something');
    expect(() => read('lacking.csv', csv)).toThrow(
      'input_sequence_length or output_sequence_length',
    );
  });
});

describe('a log of steps', () => {
  it('has one step per line', () => {
    const { format, steps } = read(
      'steps.jsonl',
      '{"step_ms":5,"decode_seqs":2,"decode_context":60}\n',
    );
    expect(format).toBe('baton-log');
    expect(steps).toEqual([decodeStep(2, 60, 5)]);
  });

  it('is refused with file and line', () => {
    const lines = '{"step_ms":5,"decode_seqs":2}\n{"step_ms":0,"decode_seqs":2}\n';
    expect(() => read('bad.jsonl', lines)).toThrow(
      'bad.jsonl:2: step_ms must be a number above 0.',
    );
  });
});

describe('any other file', () => {
  it('is refused with the known formats', () => {
    expect(() => read('notes.txt', 'hello there\n')).toThrow(
      'looks like none of the known formats',
    );
    expect(() => readInput(join(folder, 'absent'), undefined, OPTIONS)).toThrow(
      'cannot be read: ENOENT',
    );
    expect(() => read('broken.yaml', 'prefill: [1\n')).toThrow('broken.yaml cannot be read: Flow');
  });
});

describe('results of InferenceX', () => {
  const RUN = { hw: 'h200', tp: 8, conc: 16, isl: 1024, osl: 512, median_tpot: 0.012 };

  it('give a decode point per run, and a prefill point of one request at a time', () => {
    const alone = { ...RUN, conc: 1, median_tpot: 0.008, median_ttft: 0.05 };
    const { format, steps, notes } = read('inferencex.json', [RUN, alone]);
    expect(format).toBe('inferencex');
    expect(steps).toEqual([
      decodeStep(16, 16 * (1024 + 256), 12),
      decodeStep(1, 1024 + 256, 8),
      prefillStep({ tokens: 1024, ms: 50 }),
    ]);
    expect(notes).toHaveLength(2);
  });

  it('are refused without the figures of a point', () => {
    const path = fileWith('bare.json', { ...RUN, isl: 0 });
    expect(() => readInput(path, 'inferencex', OPTIONS)).toThrow('conc, isl or osl is missing');
  });
});
