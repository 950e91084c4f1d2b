// Builds docs/ into dist/site. The generator is a package of its own, installed on first use, so
// that `npm ci` of Baton stays small.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const vitepress = join(here, 'node_modules/vitepress/bin/vitepress.js');

if (!existsSync(vitepress)) {
  process.stdout.write('docs:site: installing VitePress below packages/docs-site (once) …\n');
  run('npm', ['ci', '--no-audit', '--no-fund', '--prefix', here]);
}
// The generator finds its own packages only from pages that lie below them.
const pages = join(here, 'dist/pages');
rmSync(pages, { recursive: true, force: true });
cpSync(join(here, '../../docs'), pages, { recursive: true });
// The first page of the guide is also that of the site.
cpSync(join(pages, 'start.md'), join(pages, 'index.md'));
run(process.execPath, [vitepress, 'build', here]);
process.stdout.write('docs:site: built into dist/site. See it with `bin/baton docs`.\n');

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (status === 0) return;
  process.stderr.write(`docs:site: ${command} failed (${error?.message ?? `exit ${status}`}).\n`);
  process.exit(1);
}
