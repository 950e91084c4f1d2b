// Wraps the paragraphs and list items of the given documents at 100 characters. Tables, headings
// and code stay unchanged: `node scripts/wrap-docs.mjs docs/*.md`. test/tidy fails for a document
// that this would change.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const WIDTH = 100;
/** Lines that stay as they are: tables, headings, quotes, HTML, indented code, link definitions. */
const FIXED = /^(\||#|>|<| {4}|\[[^\]]+\]: |---|\s*$)/;
const ITEM = /^(\s*)([-*]|\d+\.) /;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const path of process.argv.slice(2)) {
    const text = readFileSync(path, 'utf8');
    const wrapped = wrap(text);
    if (wrapped !== text) writeFileSync(path, wrapped);
  }
}

/** A block is a paragraph or an item. It stays unchanged when all its lines fit. */
export function wrap(text) {
  const out = [];
  let block = [];
  let isCode = false;
  const flush = () => {
    out.push(...(block.some((line) => line.length > WIDTH) ? filled(block) : block));
    block = [];
  };
  for (const line of text.split('\n')) {
    const isFence = /^\s*```/.test(line);
    if (isFence || isCode || (FIXED.test(line) && !(block.length > 0 && /^ {4}\S/.test(line)))) {
      flush();
      out.push(line);
      if (isFence) isCode = !isCode;
    } else {
      if (ITEM.test(line)) flush();
      block.push(line);
    }
  }
  flush();
  return out.join('\n');
}

function filled(block) {
  const mark = ITEM.exec(block[0])?.[2] ?? '';
  const indent = /^\s*/.exec(block[0])[0];
  const hanging = ' '.repeat(mark === '' ? indent.length : indent.length + mark.length + 1);
  const lines = [];
  let line = '';
  for (const word of wordsOf(block)) {
    const next =
      line === '' ? `${lines.length === 0 ? indent : hanging}${word}` : `${line} ${word}`;
    // A line must not begin like an item, a heading, a quote, a rule or a table of Markdown.
    const isFree = !/^([-*+]$|#+$|>|\||---|\d+[.)]$)/.test(word);
    if (line !== '' && next.length > WIDTH && isFree) {
      lines.push(line);
      line = `${hanging}${word}`;
    } else line = next;
  }
  return [...lines, line];
}

/** The words of all lines of a block. */
function wordsOf(block) {
  return block.join('\n').trim().split(/\s+/);
}
