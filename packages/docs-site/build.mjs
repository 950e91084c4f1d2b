// Builds docs/ into dist/site, and its server, dist/serve-site.mjs. The generator is a package of
// its own, installed on first use, so that `npm ci` of Baton stays small.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reasonOf } from '../../scripts/failed-command.mjs';
import { GUIDE } from './guide.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const vitepress = join(here, 'node_modules/vitepress/bin/vitepress.js');

if (!existsSync(vitepress)) {
  say('installing VitePress below packages/docs-site (once) …');
  run('npm', ['ci', '--no-audit', '--no-fund', '--prefix', here]);
}
say('building the pages (about a minute) …');
// The generator finds its own packages only from pages that lie below them.
const pages = join(here, 'dist/pages');
rmSync(pages, { recursive: true, force: true });
cpSync(join(here, '../../docs'), pages, { recursive: true });
// The site has a sidebar in place of this index.
rmSync(join(pages, 'README.md'));
// The first page of the guide is also that of the site; the next one is the same for both.
const [first, second] = GUIDE[0].pages;
const heading = `---\nprev: false\nnext: { text: ${second.title}, link: /${second.path} }\n---\n\n`;
writeFileSync(
  join(pages, 'index.md'),
  heading + readFileSync(join(pages, `${first.path}.md`), 'utf8'),
);
run(process.execPath, [vitepress, 'build', here]);
await bundleServer();
say('built. Open dist/site/index.html, or serve it with `bin/baton docs`.');

function say(sentence) {
  process.stdout.write(`docs:site: ${sentence}\n`);
}

async function bundleServer() {
  const { rolldown } = await import('rolldown');
  const server = await rolldown({ input: join(here, 'serve.mjs'), platform: 'node' });
  await server.write({ file: join(here, '../../dist/serve-site.mjs'), format: 'esm' });
  await server.close();
}

/** Hides the output of the command: a failure is one sentence. */
function run(command, args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status === 0) return;
  const reason = reasonOf(error?.message ?? `${stdout}\n${stderr}`);
  process.stderr.write(`docs:site: the guide is not built: ${reason}\n`);
  process.exit(1);
}
