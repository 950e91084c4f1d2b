import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeReadableFromFiles } from '../from-files.mjs';
import { GUIDE } from '../guide.mjs';
import {
  drawings,
  linksOfTheSite,
  readersOfThePage,
  tagsAsText,
  wholeFlags,
} from '../markdown.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../../..');
const docs = join(root, 'docs');
const { resolve } = createRequire(import.meta.url);
const mermaid = resolve('mermaid/dist/mermaid.min.js');
const miniSearch = join(dirname(resolve('minisearch')), '../umd/index.js');
/** Files to which pages link; the generator takes along only pictures. */
const attachments = readdirSync(docs).filter((name) => /\.(csv|json)$/.test(name));
const decisions = readdirSync(join(docs, 'decisions')).sort();

export default {
  title: 'Baton',
  description: 'Load-test a disaggregated LLM serving design before you own the GPUs',
  // Without it a browser asks for /favicon.ico.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: 'dist/pages',
  outDir: join(root, 'dist/site'),
  cacheDir: join(root, 'dist/.site-cache'),
  lastUpdated: false,
  markdown: {
    config(markdown) {
      markdown.use(wholeFlags);
      markdown.use(drawings);
      markdown.use(linksOfTheSite, (path) => existsSync(join(docs, path)));
      markdown.use(readersOfThePage, GUIDE);
      markdown.use(tagsAsText);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: GUIDE.slice(0, -1).map(({ title, pages }) => ({ text: title, link: linkOf(pages[0]) })),
    sidebar: [...GUIDE.map(groupOf), decisionsGroup()],
  },
  buildEnd({ outDir }) {
    copyFileSync(mermaid, join(outDir, 'mermaid.min.js'));
    for (const name of attachments) copyFileSync(join(docs, name), join(outDir, name));
    makeReadableFromFiles(outDir, join(here, '..'), miniSearch);
  },
};

function linkOf({ path }) {
  return `/${path}`;
}

function groupOf({ title, pages }, index) {
  const items = pages.map((page) => ({ text: page.title, link: linkOf(page) }));
  return { text: title, collapsed: index > 2, items };
}

function decisionsGroup() {
  const items = decisions.map((file) => {
    const name = file.replace(/\.md$/, '');
    return { text: name.replace(/^0*/, '').replaceAll('-', ' '), link: `/decisions/${name}` };
  });
  return { text: 'Decisions', collapsed: true, items };
}
