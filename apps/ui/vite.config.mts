import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * The live page: relative addresses only, so that it also works behind a proxy that puts it
 * elsewhere.
 */
export default defineConfig({
  root: folder('.'),
  base: './',
  publicDir: false,
  logLevel: 'warn',
  build: {
    outDir: folder('../../dist/apps/ui'),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
