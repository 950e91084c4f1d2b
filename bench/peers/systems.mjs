// The systems, each as the commands that start it with equal simulated times.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { batonProgram, binaryOf, modelFolder, programsOf, versionsOf } from './places.mjs';

const QUEUE = '20000';

/**
 * By name: `start` takes `{ ttftMs, itlMs, sequences, port, folder }` and returns the commands, the
 * name of the model and `firstMs`, the time to the first token in this system's definition.
 */
export const SYSTEMS = {
  'baton-1a': baton('1A'),
  'baton-1p1d': baton('1P1D'),
  'baton-2p2d': baton('2P2D'),
  llmd: { version: () => process.env.LLMD_VERSION ?? 'unknown', start: llmd },
  'dynamo-1p1d': { version: () => versionsOf('dynamo').join(', '), start: dynamo },
  xpyd: { version: () => versionsOf('xpyd').join(', '), start: xpyd },
  'xpyd-1p1d': { version: () => versionsOf('xpyd').join(', '), start: xpydPair },
  guidellm: { version: () => versionsOf('guidellm').join(', '), start: guidellm },
};

function baton(topology) {
  return { version: () => 'this checkout', start: (load) => startBaton(topology, load) };
}

function startBaton(topology, { ttftMs, itlMs, sequences, port }) {
  const args = [
    ...['up', topology, '--port', port, '--log-level', 'warn', '--step-time', 'constant'],
    ...['--time-to-first-token', ttftMs, '--inter-token-latency', itlMs],
    ...['--kv-cache-transfer-latency', 0, '--max-num-seqs', sequences],
    ...['--max-waiting-requests', QUEUE],
    ...(process.env.BENCH_BATON_EXTRA?.split(' ') ?? []),
  ];
  // After a hand-over the first token comes with the first decode step.
  const firstMs = ttftMs + (topology.includes('P') ? itlMs : 0);
  return { commands: [{ program: batonProgram(), args }], model: 'llama-3.1-8b', firstMs };
}

function llmd({ ttftMs, itlMs, sequences, port }) {
  const args = [
    ...['--port', port, '--model', 'm', '--force-dummy-tokenizer'],
    ...['--latency-calculator', 'constant', '--time-to-first-token', `${ttftMs}ms`],
    ...['--inter-token-latency', `${itlMs}ms`, '--max-num-seqs', sequences],
    ...['--max-model-len', 8_192, '--max-waiting-queue-length', QUEUE],
  ];
  return { commands: [{ program: binaryOf('LLMD_BIN'), args }], model: 'm', firstMs: ttftMs };
}

function guidellm({ ttftMs, itlMs, port }) {
  const args = [
    ...['mock-server', '--host', '127.0.0.1', '--port', port, '--model', 'm'],
    ...['--ttft-ms', ttftMs, '--itl-ms', itlMs, '--output-tokens', 200],
  ];
  const program = join(programsOf('guidellm'), 'guidellm');
  return { commands: [{ program, args }], model: 'm', firstMs: ttftMs };
}

function xpyd(load) {
  const firstMs = load.ttftMs + load.itlMs;
  return { commands: [xpydServer('dual', load.port, load)], model: 'm', firstMs };
}

function xpydPair(load) {
  const { port, folder, ttftMs, itlMs } = load;
  const config = join(folder, 'proxy.yaml');
  const servers = `prefill:\n  - "127.0.0.1:${port + 1}"\ndecode:\n  - "127.0.0.1:${port + 2}"\n`;
  writeFileSync(config, `model: m\nport: ${port}\n${servers}`);
  const program = join(programsOf('xpyd'), 'xpyd');
  const commands = [
    xpydServer('prefill', port + 1, load),
    xpydServer('decode', port + 2, load),
    { program, args: ['proxy', '--config', config] },
  ];
  return { commands, model: 'm', firstMs: ttftMs + 2 * itlMs };
}

function xpydServer(mode, port, { ttftMs, itlMs, sequences }) {
  const args = [
    ...['serve', '--mode', mode, '--port', port, '--host', '127.0.0.1', '--model', 'm'],
    ...['--prefill-delay-ms', ttftMs, '--kv-transfer-delay-ms', 0],
    ...['--decode-delay-per-token-ms', itlMs, '--max-num-seqs', sequences],
    ...['--eos-min-ratio', 1],
  ];
  return { program: join(programsOf('xpyd'), 'xpyd-sim'), args };
}

/** Every step takes the same time, so that the simulated time equals that of the others. */
const STEP_TIMES = `
import sys, numpy as n
path, first, gap = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
n.savez(path, prefill_isl=n.array([1.,1e4,1e5]), prefill_ttft_ms=n.full(3,first),
  decode_active_kv_tokens=n.array([1.,1e5,1e7]), decode_context_length=n.array([1.,1e3,1e5]),
  decode_itl=n.full((3,3),gap))`;

function dynamo({ ttftMs, itlMs, sequences, port, folder }) {
  const program = join(programsOf('dynamo'), 'python');
  // The frontend looks for the tokenizer under the model's name.
  const model = modelFolder();
  const times = join(folder, 'times.npz');
  execFileSync(program, ['-c', STEP_TIMES, times, `${ttftMs}`, `${itlMs}`]);
  const env = {
    DYN_FILE_KV: join(folder, 'kv'),
    DYN_DISCOVERY_BACKEND: 'file',
    DYN_LOG: 'warn',
    DYN_REQUEST_PLANE: 'tcp',
    DYN_EVENT_PLANE: 'zmq',
    HF_HUB_OFFLINE: '1',
  };
  const speed = itlMs > 0 ? ['--planner-profile-data', times] : ['--speedup-ratio', 0];
  const worker = (role, number) => ({
    program,
    args: [
      ...['-m', 'dynamo.mocker', '--model-path', model, '--model-name', model],
      ...['--max-num-seqs', sequences, '--block-size', 16, '--num-gpu-blocks-override', 65_536],
      ...['--no-enable-prefix-caching', ...speed, '--disaggregation-mode', role],
    ],
    env: { ...env, DYN_SYSTEM_PORT: `${port + 20 + number}` },
  });
  const frontend = { program, args: ['-m', 'dynamo.frontend', '--http-port', port], env };
  return {
    commands: [worker('prefill', 0), worker('decode', 1), frontend],
    model,
    firstMs: ttftMs,
  };
}
