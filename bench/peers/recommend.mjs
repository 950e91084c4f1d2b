// One question to two planners: how to use eight H100s for Llama 3.1 8B. Each design that one of
// them recommends is replayed or estimated by the other. Prints a Markdown table.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { batonProgram, programsOf, versionsOf } from './places.mjs';

const GPUS = 8;
const PROMPT_TOKENS = 2_000;
const OUTPUT_TOKENS = 200;
const TTFT_MS = 2_000;
const TPOT_MS = 30;
/** Requests of a replayed closed loop by its clients; enough for its start not to count. */
const ROUNDS = 20;
const MODEL = ['--model', 'meta-llama/Meta-Llama-3.1-8B', '--system', 'h100_sxm'];
const PEER = [
  ...MODEL,
  '--backend',
  'vllm',
  '--isl',
  `${PROMPT_TOKENS}`,
  '--osl',
  `${OUTPUT_TOKENS}`,
];
const LENGTHS = [
  '--random-input-len',
  `${PROMPT_TOKENS}`,
  '--random-output-len',
  `${OUTPUT_TOKENS}`,
];
const CLUSTER = ['--dataset', 'random', ...LENGTHS, '--model', 'llama-3.1-8b', '--gpu', 'h100'];
// The peer computes every prompt whole.
const OWN = [...CLUSTER, '--no-enable-prefix-caching', '--json'];
const COLUMNS = ['design', 'recommended by', 'clients'];
const FIGURES = ['requests/s', 'TTFT, ms', 'TPOT, ms'];

const aiconfigurator = join(programsOf('aiconfigurator'), 'aiconfigurator');
const peer = versionsOf('aiconfigurator')[0].replace('==', ' ');
const designs = [...peerDesigns(), ownDesign()].filter((design) => design !== undefined);
const head = [
  ...COLUMNS,
  ...FIGURES.map((name) => `${peer}: ${name}`),
  ...FIGURES.map((name) => `Baton: ${name}`),
];
const rows = designs.map((design) => {
  const { name, by, clients } = design;
  return [
    name,
    by,
    clients,
    ...figuresOf(design.peer ?? estimated(design)),
    ...figuresOf(replayed(design)),
  ];
});
for (const row of [head, head.map(() => '---'), ...rows]) {
  process.stdout.write(`| ${row.join(' | ')} |\n`);
}

function figuresOf(figures) {
  if (figures === undefined) return ['–', '–', '–'];
  const { requestsPerSecond, ttftMs, tpotMs } = figures;
  return [requestsPerSecond.toFixed(1), ttftMs.toFixed(0), tpotMs.toFixed(1)];
}

/** The best aggregated and the best disaggregated design of the peer. */
function peerDesigns() {
  const folder = mkdtempSync(join(tmpdir(), 'recommend-'));
  const bounds = ['--ttft', `${TTFT_MS}`, '--tpot', `${TPOT_MS}`, '--strict-sla'];
  ask(['default', '--total-gpus', `${GPUS}`, ...PEER, ...bounds, '--save-dir', folder]);
  const best = (mode) => {
    const file = readdirSync(folder, { recursive: true }).find((path) =>
      path.endsWith(join(mode, 'best_config_topn.csv')),
    );
    const [names, values] = readFileSync(join(folder, file), 'utf8').split('\n');
    const cells = values.split(',');
    return Object.fromEntries(names.split(',').map((name, i) => [name, cells[i]]));
  };
  const found = [aggregatedOf(best('agg')), disaggregatedOf(best('disagg'))];
  rmSync(folder, { recursive: true });
  return found;
}

function aggregatedOf(row) {
  const engines = GPUS / Number(row['num_total_gpus']);
  return peerDesign(row, { engines: `${engines}A`, replicas: engines, tp: [Number(row['tp'])] });
}

function disaggregatedOf(row) {
  const replicas = GPUS / Number(row['num_total_gpus']);
  const count = (role) => replicas * Number(row[`(${role})workers`]);
  const tp = [Number(row['(p)tp']), Number(row['(d)tp'])];
  return peerDesign(row, { engines: `${count('p')}P${count('d')}D`, replicas, tp });
}

function peerDesign(row, { engines, replicas, tp }) {
  const figures = {
    requestsPerSecond: replicas * Number(row['seq/s']),
    ttftMs: Number(row['ttft']),
    tpotMs: Number(row['tpot']),
  };
  const clients = replicas * Number(row['concurrency']);
  return { name: nameOf(engines, tp), by: peer, engines, tp, clients, peer: figures };
}

function nameOf(engines, tp) {
  const sizes = [...new Set(tp)];
  return sizes.every((size) => size === 1) ? engines : `${engines}, TP ${sizes.join(' and ')}`;
}

/**
 * Baton's own answer. `winner.name` is such as `8A mbt1024` or `6P1D tp1/tp2`: engines, GPUs of an
 * engine, settings. `winner.goodput_rps` is the rate at which it meets the SLO.
 */
function ownDesign() {
  const slo = ['--slo', `ttft=${TTFT_MS}ms,tpot=${TPOT_MS}ms`];
  const { winner } = baton(['plan', '--gpus', `${GPUS}`, ...slo, ...OWN]);
  if (winner?.name === undefined) return undefined;
  const [engines] = winner.name.split(' ');
  const [, first = '1', second = first] = /tp(\d+)(?:\/tp(\d+))?/.exec(winner.name) ?? [];
  const clients = Math.round(clientsAt(winner.goodput_rps));
  const [, stages] = /pp(\d+)/.exec(winner.name) ?? [];
  const staged = stages === undefined ? {} : { pipeline_parallel_size: stages };
  const settings = { ...winner.settings, ...staged };
  const tp = [Number(first), Number(second)];
  return { name: winner.name, by: 'Baton', engines, tp, clients, settings };
}

/** Clients that send so many requests per second when each token takes the time of the SLO. */
function clientsAt(requestsPerSecond) {
  return (requestsPerSecond * OUTPUT_TOKENS * TPOT_MS) / 1_000;
}

/** The closed loop of a design in Baton, with the settings that are recommended with it. */
function replayed({ engines, tp, clients, settings = {} }) {
  const sizes = engines.includes('P')
    ? ['--prefill-tensor-parallel-size', `${tp[0]}`, '--decode-tensor-parallel-size', `${tp[1]}`]
    : ['--tensor-parallel-size', `${tp[0]}`];
  const batch = Object.entries(settings).flatMap(([name, value]) => [
    `--${name.replaceAll('_', '-')}`,
    `${value}`,
  ]);
  const loop = ['--concurrency', `${clients}`, '--num-prompts', `${clients * ROUNDS}`];
  const summary = baton(['replay', '--topology', engines, ...sizes, ...batch, ...loop, ...OWN]);
  return {
    requestsPerSecond: summary.request_rps,
    ttftMs: summary.ttft_ms.mean,
    tpotMs: summary.tpot_ms.mean,
  };
}

/** The peer's estimate of a design that Baton recommends. */
function estimated({ engines, tp, clients }) {
  const [first, second] = engines.match(/\d+/g).map(Number);
  const aggregated = () => [
    ...['--estimate-mode', 'agg', '--tp-size', `${tp[0]}`],
    ...['--batch-size', `${Math.round(clients / first)}`, '--ctx-tokens', `${PROMPT_TOKENS}`],
  ];
  const disaggregated = () => [
    ...['--estimate-mode', 'disagg', '--prefill-tp-size', `${tp[0]}`],
    ...['--prefill-num-workers', `${first}`, '--prefill-batch-size', '1'],
    ...['--decode-tp-size', `${tp[1]}`, '--decode-num-workers', `${second}`],
    ...['--decode-batch-size', `${Math.round(clients / second)}`],
  ];
  const text = ask([
    'estimate',
    ...PEER,
    ...(second === undefined ? aggregated() : disaggregated()),
  ]);
  const figure = (name) =>
    Number(new RegExp(`^ *${name}: +([\\d.,]+)`, 'm').exec(text)[1].replace(/,/g, ''));
  const replicas = second === undefined ? first : 1;
  return {
    requestsPerSecond: replicas * figure('seq/s'),
    ttftMs: figure('TTFT'),
    tpotMs: figure('TPOT'),
  };
}

function ask(args) {
  process.stderr.write(`${peer} ${args[0]} …\n`);
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 };
  return execFileSync(aiconfigurator, ['cli', ...args], options);
}

function baton(args) {
  process.stderr.write(`baton ${args[0]} …\n`);
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 };
  return JSON.parse(execFileSync(batonProgram(), args, options));
}
