import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import swc from 'unplugin-swc';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { moduleCache } from './scripts/module-cache.mjs';

const root = fileURLToPath(new URL('.', import.meta.url));
const libs = fileURLToPath(new URL('./libs', import.meta.url));

/** Files with this suffix take more than about two seconds, whatever they check. */
const LONG = '{apps,libs,test}/**/*.long.spec.ts';
/** They compare the whole with laws, oracles and itself. */
const LAWS = ['conformance', 'invariants', 'vllm-scheduler'].map((name) => `test/${name}/**`);
/** Each of these folders of test/ is a project of its own: it needs processes or tools. */
const FOLDERS = [
  'e2e',
  'measured',
  'attacks',
  'browser',
  'package',
  'prometheus',
  'compose',
  'validation',
];
/** Their figures would differ beside other tests. */
const ALONE = ['measured', 'attacks', 'browser', 'prometheus'];
/** As many as there are cores; vitest leaves one idle. */
const CORES = availableParallelism();
const WORKERS: Readonly<Record<string, number>> = {
  e2e: 2,
  ...Object.fromEntries(ALONE.map((name) => [name, 1])),
};

/** Not beside the shared options, where a run of one project would make them twice. */
const globalSetup = ['test/support/temporary-folder.ts', 'test/support/find-redis.ts'];

const outside = FOLDERS.map((name) => `test/${name}/**`);

export default defineConfig({
  plugins: [swc.vite({ module: { type: 'es6' } })],
  resolve: { alias: [{ find: /^@baton\/([^/]+)$/, replacement: `${libs}/$1/src/index.ts` }] },
  test: {
    // One module graph per worker: loading NestJS anew for each of some 300 files takes longer than
    // the tests.
    isolate: false,
    maxWorkers: CORES,
    // Compiling the modules of one app takes as long as loading it in a worker.
    experimental: { fsModuleCache: true, fsModuleCachePath: moduleCache(root) },
    // They end what hangs, on the slowest machine; no test is judged by its time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: [
      project('fast', {
        include: [specsIn('{apps,libs,test}/**')],
        exclude: [LONG, ...LAWS, ...outside],
      }),
      project('laws', { include: [LONG, ...LAWS.map(specsIn)], exclude: outside }),
      ...FOLDERS.map((name) => project(name, { include: [specsIn(`test/${name}/**`)] })),
    ],
  },
});

/** A run of several projects takes them in this order. */
function project(
  name: string,
  files: { readonly include: string[]; readonly exclude?: string[] },
): TestProjectInlineConfiguration {
  const maxWorkers = WORKERS[name] ?? CORES;
  const groupOrder = FOLDERS.indexOf(name) + 1;
  const sequence = { groupOrder };
  return { extends: true, test: { name, ...files, globalSetup, maxWorkers, sequence } };
}

function specsIn(folder: string): string {
  return `${folder}/*.spec.ts`;
}
