import { GUIDE } from '../packages/docs-site/guide.mjs';

const WIDTH = 100;

/** docs/README.md: every page of the guide with a sentence on its content. */
export function guideIndex() {
  return `# The guide

<!-- Written by \`npm run docs\` from packages/docs-site/guide.mjs; do not edit. -->

\`bin/baton docs\` serves these pages with search.

${GUIDE.map(chapterOf).join('\n\n')}

## Decisions

[decisions](decisions) has the reasons for the design, one page each.
`;
}

function chapterOf({ title, pages }) {
  return `## ${title}\n\n${pages.map(itemOf).join('\n')}`;
}

function itemOf({ path, title, description }) {
  return filled([`- [${title}](${path}.md):`, ...description.split(' ')]);
}

/** The words in lines of at most `WIDTH` columns, as an item of a list. */
function filled(words) {
  const lines = [''];
  for (const word of words) {
    const line = lines.pop();
    const next = line === '' ? word : `${line} ${word}`;
    lines.push(...(next.length > WIDTH ? [line, `  ${word}`] : [next]));
  }
  return lines.join('\n');
}
