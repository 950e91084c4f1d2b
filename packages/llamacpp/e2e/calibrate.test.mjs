// Step times measured on the model, and a load that they were not fitted to, real beside simulated.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { FOLDER } from '../places.mjs';
import { Cluster } from './cluster.mjs';

const ROOT = join(FOLDER, '..', '..');
/** The server computes prompts in batches of 512 tokens, for at most 8 requests at once. */
const ENGINE = [
  '--max-num-batched-tokens',
  '512',
  '--max-num-seqs',
  '8',
  '--max-model-len',
  '4096',
];
const GRID = ['--prompt-lengths', '32,128,384', '--decode-batches', '1,2'];
/** One stage at a time. */
const LOAD = ['--load-requests', '20', '--load-clients', '1', '--load-input-len', '40:300'];

let cluster;

before(async () => {
  cluster = await Cluster.start('1P1D', ['--max-model-len', '4096']);
});

after(() => cluster?.stop());

function calibrate(...flags) {
  const args = ['bin/baton', 'calibrate', '--live', '--base-url', cluster.url, ...flags];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out })));
}

test('calibrate --live fits the real model, and tells how far a load is off', async () => {
  const contexts = ['--decode-contexts', '48,200', '--rounds', '5'];
  const { code, out } = await calibrate(...ENGINE, ...GRID, ...contexts, ...LOAD, '--json');
  assert.equal(code, 0);
  const { live, profile } = JSON.parse(out);
  assert.equal(live.topology, '1P1D');
  assert.deepEqual(
    live.measured.prompts.map(({ tokens }) => tokens),
    [32, 128, 384],
  );
  // Every prompt has its own place: 12 times the tokens take several times as long, however busy
  // the machine is.
  const [short, , long] = live.measured.prompts;
  assert.ok(long.ttftMs > 2 * short.ttftMs, `${short.ttftMs} and ${long.ttftMs} ms`);
  assert.equal(live.measured.decode.length, 4);
  assert.equal(profile.kind, 'calibrated');
  const { comparison, reasons, plan } = live.load;
  assert.equal(plan.requests, 20);
  const names = comparison.map(({ name }) => name);
  for (const name of ['TTFT p50', 'ITL p50', 'TPOT mean', 'E2EL p99', 'output tokens']) {
    assert.ok(names.includes(name), name);
  }
  assert.ok(reasons.contention.holdUpMs >= 0);
  assert.ok(reasons.followed.laterMs >= 0);
  console.log('figure | real | simulated | error | remainder');
  for (const { name, real, simulated, error, remainder } of comparison) {
    const percent = [error, remainder].map((share) => `${(share * 100).toFixed(1)} %`);
    console.log([name, real.toFixed(2), simulated.toFixed(2), ...percent].join(' | '));
  }
});
