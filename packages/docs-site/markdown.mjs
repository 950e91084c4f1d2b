import { posix } from 'node:path';

/** A block of Mermaid is drawn in the browser; see the theme. */
export function drawings(markdown) {
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index];
    if (info.trim() !== 'mermaid') return fence(tokens, index, ...rest);
    return `<pre class="mermaid" v-pre>${markdown.utils.escapeHtml(content)}</pre>\n`;
  };
}

/** A browser breaks lines after hyphens, also in `--request-rate`; here a flag stays whole. */
export function wholeFlags(markdown) {
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (...all) =>
    fence(...all).replaceAll(/(?<=[\s>])--[\w-]+/g, '<span class="flag">$&</span>');
}

/**
 * Links that leave docs/ point into the repository, which the site does not hold: their text stays,
 * the link goes. `holds` says whether a path below docs/ exists.
 */
export function linksOfTheSite(markdown, holds) {
  markdown.core.ruler.push('links-of-the-site', ({ tokens, env }) => {
    for (const { children } of tokens) unlink(children ?? [], env.relativePath ?? '', holds);
  });
}

function unlink(tokens, page, holds) {
  let isLeft = false;
  for (const token of tokens) {
    if (token.type === 'link_open') isLeft = !isKept(token.attrGet('href') ?? '', page, holds);
    const isEnd = token.type === 'link_close';
    if (isLeft && (token.type === 'link_open' || isEnd)) Object.assign(token, EMPTY);
    if (isEnd) isLeft = false;
  }
}

const EMPTY = { type: 'text', tag: '', content: '', nesting: 0 };

function isKept(href, page, holds) {
  if (/^([a-z]+:|#)/.test(href)) return true;
  const path = posix.join(posix.dirname(page), href.split('#')[0]);
  return !path.startsWith('..') && /\.(md|html|png|svg|csv|json)$/.test(path) && holds(path);
}

/** Our pages hold no HTML: what looks like a tag, such as `<id>`, is text. */
export function tagsAsText(markdown) {
  markdown.core.ruler.push('tags-as-text', ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'html_inline') token.type = 'text';
    }
  });
}

/** Puts the readers of a page below its title. */
export function readersOfThePage(markdown, guide) {
  const readers = new Map(
    guide.flatMap(({ pages }) => pages.map((page) => [`${page.path}.md`, page.readers])),
  );
  markdown.core.ruler.push('readers-of-the-page', (state) => {
    const names = readers.get(state.env.relativePath);
    const end = state.tokens.findIndex(({ type }) => type === 'heading_close');
    if (names === undefined || end < 0) return;
    const line = new state.Token('html_block', '', 0);
    line.content = `<p class="readers">For ${names.join(', and ')}.</p>\n`;
    state.tokens.splice(end + 1, 0, line);
  });
}
