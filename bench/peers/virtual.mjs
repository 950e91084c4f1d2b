// One simulator on one workload in virtual time, start-up included: the Mooncake conversation trace
// on eight aggregated engines of Llama 3.1 8B on an H100.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { batonProgram, programsOf, ROOT, versionsOf } from './places.mjs';
import { childSeconds } from './processes.mjs';

const TRACE = join(ROOT, 'data', 'traces', 'mooncake_conversation_trace.jsonl');
const REQUESTS = 12_031;
const ENGINES = 8;

export const VIRTUAL_SYSTEMS = {
  'baton-8a': { version: () => 'this checkout', command: baton },
  dynosim: { version: () => versionsOf('dynamo').join(', '), command: dynosim },
};

function baton() {
  const cluster = ['--topology', `${ENGINES}A`, '--model', 'llama-3.1-8b', '--gpu', 'h100'];
  const args = ['replay', '--trace', TRACE, ...cluster, '--placement', 'round-robin', '--json'];
  return { program: batonProgram(), args: [...args, '--max-waiting-requests', '10000000'] };
}

function dynosim(folder) {
  const report = ['--report-json', join(folder, 'report.json')];
  const args = ['-m', 'dynamo.replay', TRACE, '--replay-mode', 'offline', ...report];
  const workers = ['--num-workers', `${ENGINES}`];
  return { program: join(programsOf('dynamo'), 'python'), args: [...args, ...workers] };
}

/** @throws Error when it fails */
export function virtualRun(name) {
  const { version, command } = VIRTUAL_SYSTEMS[name];
  const folder = mkdtempSync(join(tmpdir(), 'peers-'));
  const { program, args } = command(folder);
  const oneThread = { GOMAXPROCS: '1', RAYON_NUM_THREADS: '1', TOKIO_WORKER_THREADS: '1' };
  const env = { ...process.env, ...oneThread, HF_HUB_OFFLINE: '1' };
  const before = childSeconds();
  const beganMs = performance.now();
  const { status, stderr } = spawnSync(program, args, { env, cwd: folder, maxBuffer: 1 << 28 });
  const wall_s = (performance.now() - beganMs) / 1_000;
  const cpu_s = childSeconds() - before;
  rmSync(folder, { recursive: true, force: true });
  if (status !== 0) throw new Error(`${stderr}`.slice(-500));
  return { version: version(), requests: REQUESTS, wall_s, cpu_s };
}
