// Puts the compiled modules that a process loads, and their packages, into one file for each kind
// of process, dist/bundles/*.js, with the code that V8 compiles of them at a start. The main
// modules in dist then run these files, until the compiler writes them again. Without this step a
// build runs from its separate files.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { ROOT } from './root.mjs';

const DIST = join(ROOT, 'dist');
const BUNDLES = join(DIST, 'bundles');
const REHEARSE = join(ROOT, 'scripts', 'rehearse-bundle.cjs');
/** Sets the flags of V8 that processes of a cluster have. V8 refuses code of other flags. */
const FLAGS = join(DIST, 'libs', 'supervisor', 'src', 'warm-up.js');

const API = 'apps/api/src/main.js';
const CLI = 'apps/cli/src/main.js';
/** The files of each bundle: main modules of processes, and of their threads. */
const CONTENTS = {
  processes: [
    API,
    'apps/api/src/thread/request-thread.js',
    'apps/prefill/src/main.js',
    'apps/decode/src/main.js',
  ],
  commands: [CLI, 'libs/planner/src/host/plan-worker.js'],
  standby: ['libs/transport/src/redis/connection/standby-thread.js'],
};
/** A start takes 2 s on a slow machine; the limit ends what hangs. */
const REHEARSAL_MS = 120_000;
/** Packages that few processes use. They load from node_modules, as does native code. */
const SEPARATE = [
  '@eslint-community/regexpp',
  '@grpc/grpc-js',
  '@huggingface/jinja',
  '@huggingface/tokenizers',
  /^@opentelemetry\/(?!api$)/,
  'cli-progress',
  /^gpt-tokenizer/,
  'msgpackr-extract',
  'piscina',
  'refa',
  'undici',
  'yaml',
];

rmSync(BUNDLES, { recursive: true, force: true });
mkdirSync(BUNDLES, { recursive: true });
await Promise.all(Object.entries(CONTENTS).map(([name, files]) => bundle(name, files)));
try {
  await Promise.all([rehearseProcesses(), rehearseCommands()]);
  for (const [name, files] of Object.entries(CONTENTS)) {
    for (const file of files) writeFileSync(join(DIST, file), starter(name, file));
  }
} catch (error) {
  // For example where processes may not open a port. What the compiler wrote runs without bundles.
  console.error(`Processes start from separate files, which takes longer: ${error.message}`);
}

async function bundle(name, files) {
  const path = pathOf(name);
  const build = await rolldown({
    cwd: ROOT,
    input: { [name]: path },
    platform: 'node',
    external: SEPARATE,
    plugins: [entry(path, files), places()],
    treeshake: false,
    // A package that Nest can use, but that is not installed.
    checks: { unresolvedImport: false },
  });
  await build.write({
    dir: BUNDLES,
    format: 'cjs',
    entryFileNames: '[name].js',
    codeSplitting: false,
    charset: 'ascii',
    minify: false,
    comments: { legal: true, annotation: false, jsdoc: false },
    // The parameters of a CommonJS module. The value of the whole file is a function.
    banner: '(function (exports, require, module, __filename, __dirname) {',
    footer: '})',
  });
  await build.close();
}

function pathOf(name) {
  return join(BUNDLES, `${name}.js`);
}

/** The first module of a bundle: a function for each file, so that a process runs only its own. */
function entry(path, files) {
  const runs = files.map((file) => `'${file}': () => require('../${file}'),`);
  const code = `module.exports = { ${runs.join(' ')} };`;
  return {
    name: 'entry',
    resolveId: (id) => (id === path ? id : undefined),
    load: (id) => (id === path ? { code, moduleType: 'js' } : undefined),
  };
}

/** Modules find files beside them by their own place, not by that of the bundle. */
function places() {
  const at = (path) => `require('node:path').join(__dirname, ${JSON.stringify(path)})`;
  return {
    name: 'places',
    transform: {
      filter: { code: /\b__(dirname|filename)\b/ },
      handler: (code, id) => ({
        code: code
          .replaceAll(/\b__dirname\b/g, at(relative(BUNDLES, dirname(id))))
          .replaceAll(/\b__filename\b/g, at(relative(BUNDLES, id))),
        map: null,
      }),
    },
  };
}

/**
 * A cluster in one process, and one chat. What workers do with Redis has no rehearsal: its code
 * saves 2 % of their start.
 */
async function rehearseProcesses() {
  const env = { BATON_PORT: '0', BATON_TOPOLOGY: '1P1D', BATON_LOG_LEVEL: 'warn' };
  const until = async (child) => {
    const [{ url }] = await once(child, 'message');
    await chat(url);
  };
  await rehearse('processes', API, { env, execArgv: ['--require', FLAGS], until });
}

async function chat(url) {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 4,
      stream: true,
    }),
  });
  await answer.text();
}

async function rehearseCommands() {
  const load = ['--dataset', 'random', '--num-prompts', '20', '--request-rate', '10'];
  const lines = [
    ['up', '--help'],
    ['replay', '--topology', '1P1D', ...load],
  ];
  for (const args of lines) await rehearse('commands', CLI, { args });
}

/** @throws Error when the process fails or hangs */
async function rehearse(name, file, options) {
  const { args = [], env = {}, execArgv = [], until } = options;
  const child = fork(REHEARSE, [pathOf(name), file, ...args], {
    execArgv,
    env: { ...withoutBaton(process.env), ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: REHEARSAL_MS,
    killSignal: 'SIGKILL',
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (said += text));
  const closed = once(child, 'close');
  if (until !== undefined) {
    try {
      await Promise.race([until(child), closed]);
    } finally {
      child.kill('SIGTERM');
    }
  }
  const [code] = await closed;
  if (code !== 0) throw new Error(`${file} does not run from its bundle: ${said}`);
}

/** Options of the user are not those of a rehearsal. */
function withoutBaton(env) {
  const kept = Object.entries(env).filter(([name]) => !/^(BATON_|REDIS_|NODE_OPTIONS)/.test(name));
  return Object.fromEntries(kept);
}

function starter(name, file) {
  const up = relative(dirname(join(DIST, file)), ROOT);
  const path = relative(dirname(join(DIST, file)), pathOf(name));
  return `'use strict';
// Written by scripts/build-bundles.mjs.
const { join } = require('node:path');
module.exports = require('${up}/bin/run-bundle.cjs').runBundle(join(__dirname, '${path}'), '${file}');
`;
}
