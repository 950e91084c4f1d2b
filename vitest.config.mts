import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import swc from 'unplugin-swc';
import { defineConfig } from 'vitest/config';
import { moduleCache } from './scripts/module-cache.mjs';

const root = fileURLToPath(new URL('.', import.meta.url));
const libs = fileURLToPath(new URL('./libs', import.meta.url));

export default defineConfig({
  plugins: [swc.vite({ module: { type: 'es6' } })],
  resolve: { alias: [{ find: /^@baton\/([^/]+)$/, replacement: `${libs}/$1/src/index.ts` }] },
  test: {
    include: ['libs/**/*.spec.ts', 'apps/**/*.spec.ts', 'test/**/*.spec.ts'],
    // One module graph per worker: loading NestJS anew for each of some 300 files takes longer than
    // the tests.
    isolate: false,
    // As many as there are cores; vitest leaves one idle.
    maxWorkers: availableParallelism(),
    globalSetup: ['test/support/temporary-folder.ts', 'test/support/find-redis.ts'],
    // Compiling the modules of one app takes as long as loading it in a worker.
    experimental: { fsModuleCache: true, fsModuleCachePath: moduleCache(root) },
    // They end what hangs, on the slowest machine; no test is judged by its time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
