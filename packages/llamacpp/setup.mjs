// Installs what the package needs and writes the model with random weights, each where it is
// missing: node setup.mjs
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_SHAPE } from './gguf/random-llama.mjs';
import { writeRandomGguf } from './gguf/write.mjs';
import { DEFAULT_MODEL, FOLDER } from './places.mjs';

const SEED = 1;

if (!existsSync(join(FOLDER, 'node_modules', 'node-llama-cpp'))) install();
if (!existsSync(DEFAULT_MODEL)) {
  const { bytes } = await writeRandomGguf(DEFAULT_MODEL, { shape: DEFAULT_SHAPE, seed: SEED });
  console.log(`wrote ${DEFAULT_MODEL} (${(bytes / 1e6).toFixed(1)} MB)`);
}

/** Without install scripts: the package itself has the library for this machine's processor. */
function install() {
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', args, {
    cwd: FOLDER,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.error('npm ci of packages/llamacpp failed.');
    process.exit(1);
  }
}
