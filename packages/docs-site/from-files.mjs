import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/**
 * Makes the built site in `folder` readable from file://, where a browser loads no modules and
 * finds nothing at an absolute path. Parts of a page get relative paths. page-from-file.js does the
 * work of the modules.
 *
 * @param ours the folder of page-from-file.js
 * @param miniSearch the search library as a plain script
 */
export function makeReadableFromFiles(folder, ours, miniSearch) {
  const names = readdirSync(folder, { recursive: true }).map((name) => name.replaceAll('\\', '/'));
  for (const name of names.filter((each) => /\.(html|css)$/.test(each))) {
    const up = posix.relative(posix.dirname(name), '') || '.';
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, name.endsWith('.css') ? relativeParts(text, up) : relativePage(text, up));
  }
  copyFileSync(join(ours, 'page-from-file.js'), join(folder, 'page-from-file.js'));
  copyFileSync(miniSearch, join(folder, 'mini-search.js'));
  const index = names.find((name) => /@localSearchIndexroot\.[^/]+\.js$/.test(name));
  writeFileSync(
    join(folder, 'search-index.js'),
    plainScript(readFileSync(join(folder, index), 'utf8')),
  );
}

function relativeParts(css, up) {
  return css.replaceAll('url(/', `url(${up}/`);
}

/** Only the parts change: links stay absolute, because the modules keep them over all pages. */
function relativePage(html, up) {
  const script = `<script defer src="${up}/page-from-file.js"></script>`;
  return html
    .replaceAll(/(<(?:link|script)\b[^>]* (?:href|src)=")\//g, `$1${up}/`)
    .replace('</head>', `${script}\n  </head>`);
}

/** The search index, which the site imports as a module, as a value of the window. */
function plainScript(module) {
  const plain = module.replace(/export\s*\{\s*(\w+) as default\s*\};?\s*$/, 'window.guide = $1;');
  if (plain === module) throw new Error('The search index has no default export.');
  return `{ ${plain} }\n`;
}
