import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadWorkload } from '@baton/replay';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReferenceServer, type Stamp } from '../../../../test/support/reference-server';
import { type CommandAnswer, runCommand } from '../../test/test-command';

let server: ReferenceServer;
beforeAll(async () => {
  server = await ReferenceServer.start();
});
const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

interface Result {
  readonly [name: string]: unknown;
  readonly start_times: number[];
  readonly itls: number[][];
}

let runs = 0;

async function bench(
  ...args: string[]
): Promise<CommandAnswer & { stamps: Stamp[]; warmUps: Stamp[] }> {
  const prefix = `spec${runs++}-`;
  const answer = await runCommand(
    ...['bench', '--base-url', server.origin, '--request-id-prefix', prefix],
    ...args,
  );
  const stamps = await server.stamps(prefix);
  const isWarmUp = ({ id }: Stamp): boolean => id.includes('warm-up');
  return {
    ...answer,
    stamps: stamps.filter((stamp) => !isWarmUp(stamp)),
    warmUps: stamps.filter(isWarmUp),
  };
}

function resultOf({ stdout, stderr }: CommandAnswer): Result {
  expect(stdout, stderr).toMatch(/^\{/);
  return JSON.parse(stdout) as Result;
}

/** Runs the work while something else blocks this process half of the time. */
async function busily<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => {
    const endMs = performance.now() + 25;
    while (performance.now() < endMs);
  }, 50);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

const wordsOf = ({ body }: Stamp): string[] => String(body['prompt']).trim().split(' ');
const SHORT = ['--dataset', 'random', '--random-input-len', '12', '--random-output-len', '8'];

describe('baton bench', () => {
  it('reports each SLO class by its own targets', async () => {
    const flags = ['--slo-mix', 'chat=0.5,batch=0.5', '--slo-class', 'chat:ttft=60s,tpot=60s'];
    const load = [...SHORT, '--num-prompts', '12'];
    const result = resultOf(await bench(...load, ...flags, '--json'));
    const classes = result['slo_classes'] as { name: string; requests: number; slo: unknown }[];
    expect(classes.map(({ name }) => name).sort()).toEqual(['batch', 'chat']);
    expect(classes.reduce((sum, { requests }) => sum + requests, 0)).toBe(12);
    expect(classes.find(({ name }) => name === 'chat')).toMatchObject({
      slo: 'ttft=60s,tpot=60s',
      slo_attainment: 1,
    });
    expect(resultOf(await bench(...load, '--json'))).not.toHaveProperty('slo_classes');
    const { exitCode, stderr } = await bench(...load, '--slo-class', 'chat');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("'chat' is not")]);
  });

  it('ends with exit code 3 when this machine was too slow to send its load in time', async () => {
    const load = [...SHORT, '--num-prompts', '20', '--request-rate', '40', '--json'];
    const answer = await busily(() => bench(...load));
    expect(resultOf(answer)['load_generator']).toMatchObject({
      void: expect.any(String) as string,
    });
    expect(answer.exitCode).toBe(3);
    expect(answer.stderr).toMatch(/baton: void: TTFT, .*--speedup 0.5/);
  });

  it('takes its latency targets in the form of replay, too', async () => {
    const load = [...SHORT, '--num-prompts', '4', '--json'];
    const result = resultOf(await bench(...load, '--slo', 'ttft=5s,tpot=1s'));
    expect(result['request_goodput']).toBe(result['request_throughput']);
    const missed = resultOf(await bench(...load, '--slo', 'ttft=1us'));
    expect(missed['request_goodput']).toBe(0);
  });

  it('uses the names of vllm bench serve in its result', async () => {
    const flags = ['--metric-percentiles', '50,99.9', '--percentile-metrics', 'ttft,e2el'];
    const answer = await bench(
      ...[...SHORT, ...flags, '--num-prompts', '4', '--max-concurrency', '2'],
      ...['--goodput', 'ttft:5000', 'tpot:1000', '--save-detailed', '--metadata', 'a=b', '--json'],
    );
    const result = resultOf(answer);
    const names =
      'date endpoint_type backend label model_id tokenizer_id num_prompts a request_rate ' +
      'burstiness max_concurrency duration completed failed total_input_tokens ' +
      'total_output_tokens request_throughput request_goodput output_throughput ' +
      'total_token_throughput max_output_tokens_per_s max_concurrent_requests rtfx ' +
      'mean_ttft_ms median_ttft_ms std_ttft_ms p50_ttft_ms p99.9_ttft_ms mean_e2el_ms ' +
      'p99.9_e2el_ms input_lens output_lens ttfts itls start_times generated_texts errors';
    expect(Object.keys(result)).toEqual(expect.arrayContaining(names.split(' ')));
    expect(result).not.toHaveProperty('mean_tpot_ms');
    expect(result).toMatchObject({
      model_id: 'reference',
      request_rate: 'inf',
      max_concurrency: 2,
      completed: 4,
      input_lens: [12, 12, 12, 12],
      output_lens: [8, 8, 8, 8],
      errors: ['', '', '', ''],
      request_goodput: result['request_throughput'],
    });
    expect(result.itls.map((gaps) => gaps.length)).toEqual([7, 7, 7, 7]);
    expect((result['generated_texts'] as string[])[0]).toMatch(/^ word1 word2 .*word8$/);
  });

  it('writes prompts with the right lengths in the server’s own tokens', async () => {
    const { stamps, stderr } = await bench(...SHORT, '--num-prompts', '20');
    for (const stamp of stamps) {
      expect(wordsOf(stamp)).toHaveLength(12);
      // That tokenizer counts two tokens for words with an e.
      expect(String(stamp.body['prompt'])).not.toContain('e');
      expect(stamp.body).toMatchObject({ max_tokens: 8, ignore_eos: true, stream: true });
    }
    expect(new Set(stamps.map(({ body }) => body['prompt'])).size).toBe(20);
    expect(stderr).not.toContain('/tokenize');
  });

  it('gives prompts exactly the requested shared prefixes', async () => {
    const { stamps } = await bench(
      ...['--dataset', 'shared-prefix', '--num-prompts', '30', '--random-output-len', '2'],
      ...['--prefix-repetition-num-prefixes', '3', '--prefix-repetition-prefix-len', '37'],
      ...['--prefix-repetition-suffix-len', '11'],
    );
    const prompts = stamps.map(wordsOf);
    expect(new Set(prompts.map((words) => words.slice(0, 37).join(' '))).size).toBe(3);
    expect(new Set(prompts.map((words) => words.slice(37).join(' '))).size).toBe(30);
    expect(new Set(prompts.map((words) => words.length))).toEqual(new Set([48]));
  });

  it('sends no request before its instant in a replay with the same flags', async () => {
    const load = ['--num-prompts', '30', '--request-rate', '50', '--burstiness', '0.5'];
    const answer = await bench(...SHORT, ...load, '--seed', '3', '--save-detailed', '--json');
    const { workload } = await loadWorkload(
      { dataset: 'random', numPrompts: '30', requestRate: '50', burstiness: '0.5' },
      { seed: 3, blockSize: 16 },
    );
    const late = resultOf(answer).start_times.map((s, i) => s * 1e3 - workload.arrivalUs[i]! / 1e3);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
  });

  it('quotes real answers in later turns', async () => {
    const { stamps } = await bench(
      ...['--dataset', 'multi-turn', '--num-prompts', '3', '--multi-turn-turns', '3'],
      ...['--multi-turn-think-time', '0', '--random-input-len', '5', '--random-output-len', '4'],
      ...['--backend', 'openai-chat'],
    );
    const [first, second, third] = stamps.map(({ body }) => body['messages'] as object[]);
    const answer = { role: 'assistant', content: ' word1 word2 word3 word4' };
    expect(second).toEqual([...first!, answer, { role: 'user', content: expect.any(String) }]);
    expect(third).toEqual([...second!, answer, { role: 'user', content: expect.any(String) }]);
  });

  it('sends recorded requests again, each to its endpoint', async () => {
    const path = join(folder, 'answers.jsonl');
    const exchange = (arrivalUs: number, to: string, body: object, rest = {}): string =>
      `${JSON.stringify({
        baton_exchange: 1,
        arrival_us: 1e15 + arrivalUs,
        method: 'POST',
        path: to,
        body,
        status: 200,
        complete: true,
        writes: [[5, '{"usage":{"prompt_tokens":9,"completion_tokens":2}}']],
        ...rest,
      })}\n`;
    const prompt = { model: 'm', prompt: 'Hello there', max_tokens: 2, temperature: 0 };
    const messages = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 3 };
    writeFileSync(
      path,
      exchange(400_000, '/v1/chat/completions', messages) +
        exchange(0, '/v1/completions?x=1', prompt) +
        exchange(1, '/v1/completions', prompt, { status: 429 }),
    );
    const answer = await bench('--dataset', 'recorded', '--dataset-path', path, '--json');
    expect(answer.stamps.map(({ body }) => body)).toEqual([
      { ...prompt, stream: true, stream_options: { include_usage: true } },
      { ...messages, stream: true, stream_options: { include_usage: true } },
    ]);
    const [first, second] = answer.stamps.map(({ receivedMs }) => receivedMs);
    expect(second! - first!).toBeGreaterThan(200);
    expect(resultOf(answer)).toMatchObject({ completed: 2, total_input_tokens: 18 });
    expect(answer.stderr).toContain('left out because they were refused, incomplete');
  });

  it('counts failures by kind, and fails when nothing was completed', async () => {
    const failing = JSON.stringify({ reference: { fail: 'in-stream' } });
    const answer = await bench(...SHORT, '--num-prompts', '3', '--extra-body', failing);
    expect(answer.exitCode).toBe(1);
    expect(answer.stdout).toBe('');
    expect(answer.stderr).toContain(
      'baton: No request was completed. 3 × in_stream_error: fails on request',
    );
  });

  it('warms up with separate words, and stops when the warm-up fails', async () => {
    const { stamps, warmUps } = await bench(...SHORT, '--num-prompts', '2', '--num-warmups', '3');
    expect(warmUps.map((stamp) => wordsOf(stamp).length)).toEqual([12, 12, 12]);
    const seen = new Set([...stamps, ...warmUps].map(({ body }) => body['prompt']));
    expect(seen.size).toBe(5);
    const failing = ['--extra-body', '{"reference":{"fail":"http"}}', '--num-warmups', '1'];
    const failed = await bench(...SHORT, '--num-prompts', '2', ...failing);
    expect(failed).toMatchObject({ exitCode: 1, stdout: '', stamps: [] });
    expect(failed.stderr).toContain('baton: The warm-up failed: http_503: fails on request\n');
  });

  it('does not mark figures for steps that were late in the warm-up', async () => {
    const answer = await bench(...SHORT, '--num-prompts', '4', '--num-warmups', '8');
    expect(answer.warmUps).toHaveLength(8);
    expect(answer.stdout).not.toContain('steps of the server ended');
  });

  it('writes files without keys to the given folder', async () => {
    const files = ['--out', folder, '--save-result', '--result-dir', join(folder, 'saved')];
    const key = ['--api-key', 'very-secret', '--header', 'x-key=secret-too'];
    const { stderr } = await bench(...SHORT, '--num-prompts', '2', ...files, ...key);
    expect(stderr).toContain('wrote result.json, requests.csv, report.html into');
    const [saved = ''] = readdirSync(join(folder, 'saved'));
    expect(saved).toMatch(/^openai-infqps-reference-\d{8}-\d{6}\.json$/);
    for (const name of ['result.json', 'requests.csv', 'report.html', join('saved', saved)]) {
      const text = readFileSync(join(folder, name), 'utf8');
      expect(text).not.toContain('secret');
      expect(text.length).toBeGreaterThan(100);
    }
  });
});

describe('wrong usage', () => {
  it.each([
    [
      ['--dataset', 'random', '--goodput', 'ttft'],
      /^--goodput takes ttft, tpot, itl, e2el with ms/,
    ],
    [['--dataset', 'random', '--goodput', 'ttft:0'], /--goodput takes/],
    [['--dataset', 'random', '--slo', 'ttft=5'], /^--slo: /],
    [
      ['--dataset', 'random', '--slo', 'ttft=1s', '--goodput', 'ttft:1000'],
      /--slo and --goodput both name latency targets. Remove one./,
    ],
    [
      ['--dataset', 'random', '--backend', 'tgi'],
      /--backend must be one of openai, vllm, openai-chat/,
    ],
    [['--dataset', 'random', '--max-concurrency', '0'], /--max-concurrency must be a whole number/],
    [
      ['--dataset', 'random', '--request-rate', '-1'],
      /--request-rate must be a number above 0 or inf/,
    ],
    [['--dataset', 'random', '--extra-body', '[1]'], /--extra-body must be a JSON object such as/],
    [['--dataset', 'random', '--extra-body', '{'], /--extra-body must be a JSON object such as/],
    [['--dataset', 'random', '--header', 'plain'], /--header takes name=value; 'plain' is not/],
    [
      ['--dataset', 'random', '--header', 'a b=c'],
      /contains an invalid character for an HTTP header/,
    ],
    [['--dataset', 'random', '--endpoint', 'v1'], /--endpoint must be a path that begins with \//],
    [['--dataset', 'random', '--port', '80'], /set the same server. Remove one/],
    [
      ['--dataset', 'random', '--percentile-metrics', 'x'],
      /--percentile-metrics must be a list of/,
    ],
    [
      ['--dataset', 'random', '--metric-percentiles', '101'],
      /--metric-percentiles must be a list of/,
    ],
    [['--dataset', 'random', '--result-dir', 'x'], /--result-dir needs --save-result/],
    [
      ['--dataset', 'random', '--request-timeout', '0'],
      /--request-timeout must be a number of seconds/,
    ],
    [
      ['--dataset', 'random', '--num-prompt', '5'],
      /unknown option .* did you mean '--num-prompts'/,
    ],
    [[], /The workload is missing/],
    [['--dataset', 'sharegpt'], /--dataset sharegpt needs --dataset-file FILE/],
    [['--dataset', 'sharegpt', '--dataset-file', 'no.json'], /^no.json cannot be read: ENOENT/],
  ])('%j is one sentence and exit code 2', async (args, sentence) => {
    const { exitCode, stderr, stdout, stamps } = await bench(...args);
    expect(stderr.replace(/^baton: /, '')).toMatch(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect({ exitCode, stdout, stamps }).toEqual({ exitCode: 2, stdout: '', stamps: [] });
  });

  it('accepts only http and https', async () => {
    const answer = await runCommand('bench', '--base-url', 'ftp://x', '--dataset', 'random');
    expect(answer.stderr).toContain('--base-url must be an http or https URL such as');
    expect(answer.exitCode).toBe(2);
  });

  it('reports that no server answers', async () => {
    const answer = await runCommand('bench', '--host', '127.0.0.1', '--port', '1', ...SHORT);
    expect(answer.stderr).toMatch(/^baton: No server answers at http:\/\/127.0.0.1:1: [^\n]+\.\n$/);
    expect(answer.exitCode).toBe(1);
  });

  it.each([
    [['demo', '2X'], /topology/i],
    [['demo', '--goodput', 'fast'], /--goodput takes/],
    [['demo', '--base-url', 'http://x'], /unknown option '--base-url'/],
  ])('%j starts no cluster', async (args, sentence) => {
    const { exitCode, stderr } = await runCommand(...args);
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(exitCode).toBe(2);
  });
});
