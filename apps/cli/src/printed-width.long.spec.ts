import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeStep, prefillStep, stepLogLine } from '@baton/calibration';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../test/test-command';

const LOAD = ['--dataset', 'random', '--num-prompts', '40', '--request-rate', '20'];
const SLO = ['--slo', 'ttft=5s,tpot=100ms'];
const PLAN = [...LOAD, ...SLO, '--cost', '--threads', '1'];

const folder = mkdtempSync(join(tmpdir(), 'w'));
const SPACE = join(folder, 'fleet.yaml');
const POLICY = join(folder, 'first.mjs');
writeFileSync(
  SPACE,
  [
    'gpus: { h100: 4, h200: 4 }',
    'tensor_parallel_size: [1]',
    'vary: { placement: [prefix-aware], max_num_batched_tokens: [2048], quantization: [fp8] }',
    'trials: 4\n',
  ].join('\n'),
);
writeFileSync(POLICY, 'export default { create: () => ({ choose: () => 0 }) };\n');
afterAll(() => rmSync(folder, { recursive: true }));

/** A slow router's log: 20 prompts for the first of two engines. */
const ROUTED = join(folder, 'routed.jsonl');
writeFileSync(
  ROUTED,
  Array.from({ length: 20 }, (_none, i) => {
    const row = { time: 100 + i / 10, request_id: `r${i}`, prompt_tokens: 4_000, output_tokens: 4 };
    return `${JSON.stringify({ ...row, endpoint: i < 19 ? 'one' : 'two' })}\n`;
  }).join(''),
);

const STEPS = join(folder, 's');
writeFileSync(
  STEPS,
  [
    ...[1, 4, 16, 64].map((seqs) => decodeStep(seqs, seqs * 1_000, 4 + 0.03 * seqs)),
    ...[32, 128, 512, 2_048].map((tokens) => prefillStep({ tokens, ms: 4 + 0.01 * tokens })),
  ]
    .map((step) => `${stepLogLine(step)}\n`)
    .join(''),
);

const SCALED = ['--max', '2P2D', '--autoscalers', 'hpa:ttft@prefill+kv=0.7@decode,keda:5'];
const CLASSES = [
  ...['--slo-classes', JSON.stringify({ interactive: { priority: 1 }, batch: { priority: 2 } })],
  ...['--slo-mix', 'interactive=0.4,batch=0.6'],
];

/** Command lines to copy, which must not be broken. */
const COMMAND = /^(start it|look into it): /;

describe('the output of a command', () => {
  it.each([
    ['the help of all', ['--help']],
    ['the help of one', ['plan', '--help']],
    ['a check of the machine', ['doctor']],
    ['the shipped traces', ['replay', '--trace', 'list']],
    ['a replay', ['replay', ...LOAD, ...SLO, '--cost', '--topology', '2P2D']],
    ['a plan', ['plan', ...PLAN, '--gpus', '4', '--tp', '1,2']],
    ['a search for fleets', ['plan', ...PLAN, '--space', SPACE]],
    ['a test of policies', ['policy', 'test', POLICY, ...LOAD, '--topology', '2P2D']],
    ['the profiles', ['profiles', 'list']],
    ['a comparison of autoscalers', ['plan', ...LOAD, ...SLO, ...SCALED, '--gpu-price', 'h100=2']],
    ['a calibration', ['calibrate', '--input', STEPS]],
    ['a shadow', ['replay', '--trace', ROUTED, '--topology', '2A', '--shadow', 'least-requests']],
    ['SLO classes', ['replay', ...LOAD, ...CLASSES, '--topology', '2P2D']],
    ['one profile', ['profiles', 'show', '--model', 'llama-3.1-8b', '--gpu', 'h100']],
  ])('fits 100 columns: %s', async (_what, args) => {
    const { exitCode, stdout, stderr } = await runCommand(...args);
    expect([exitCode, stderr.includes('Error')]).toEqual([0, false]);
    expect(stdout.split('\n').length).toBeGreaterThan(3);
    const wide = stdout.split('\n').filter((line) => line.length > 100 && !COMMAND.test(line));
    expect(wide).toEqual([]);
  });

  describe('for a server that fails every second request', () => {
    let server: Server;
    beforeAll(async () => {
      const reason = 'The reason of this failure is long. '.repeat(9);
      let answers = 0;
      server = createServer((request, response) => {
        if (request.method === 'POST' && answers++ % 2 === 0) {
          const choice = { index: 0, text: 'a', delta: { content: 'a' } };
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.end(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`);
          return;
        }
        response.writeHead(500, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: reason } }));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => server.close());

    it('fits 100 columns: a bench', async () => {
      const { port } = server.address() as AddressInfo;
      const to = ['--base-url', `http://127.0.0.1:${port}`, '--model', 'm'];
      const { stdout } = await runCommand('bench', ...LOAD, ...to);
      expect(stdout).toContain('Failures');
      expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
    });
  });

  it('has every column of a plan in one table with --wide', async () => {
    const args = [...PLAN, '--gpus', '2', '--tp', '1'];
    const [narrow, wide] = [
      await runCommand('plan', ...args),
      await runCommand('plan', ...args, '--wide'),
    ];
    expect(narrow.stdout).not.toContain('TTFT p99');
    expect(wide.stdout).toMatch(/^split .* TTFT p99 .* ITL p99 .* front$/m);
  });
});
