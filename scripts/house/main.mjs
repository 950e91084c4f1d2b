// Prints the counts of the house: `npm run house -- [checkout] [--json] [--which] [--no-chat]`.
// `--which` names the counted items; `--no-chat` runs no chat. The counts are thermometers: nothing
// holds them.
import { resolve } from 'node:path';
import { chatOf } from './chat.mjs';
import { codeLines, functionLengths, quantile, totalLines } from './lines.mjs';
import { libOf } from './rooms.mjs';
import { passingClasses, shapesOf } from './shapes.mjs';
import { readTree } from './tree.mjs';

const flags = new Set(process.argv.slice(2).filter((word) => word.startsWith('--')));
const folder = process.argv.slice(2).find((word) => !word.startsWith('--')) ?? '.';

const tree = readTree(resolve(folder));
const counts = [...sizes(tree), ...rooms(tree), ...(flags.has('--no-chat') ? [] : way(tree))];

if (flags.has('--json')) process.stdout.write(`${JSON.stringify(counts, null, 2)}\n`);
else for (const row of counts) process.stdout.write(`${line(row)}\n`);

function sizes({ product, specs }) {
  const lengths = functionLengths(product);
  return [
    count('files', product.length),
    count('lines', totalLines(product)),
    count('lines of code', codeLines(product)),
    count('lines of specs beside the code', totalLines(specs)),
    count('functions', lengths.length),
    count('function lines, median', quantile(lengths, 0.5)),
    count('function lines, p90', quantile(lengths, 0.9)),
    count('function lines, max', lengths.at(-1) ?? 0),
  ];
}

/** The libs and apps with their lines, the largest first. */
function rooms({ product }) {
  const lines = new Map();
  for (const file of product) {
    const room = libOf(file.path) ?? /^(apps\/[^/]+|[^/]+)/.exec(file.path)[0];
    lines.set(room, (lines.get(room) ?? 0) + file.lines.length);
  }
  const rows = [...lines].sort((a, b) => b[1] - a[1]).map(([room, sum]) => `${sum} ${room}`);
  const libs = new Set(product.flatMap(({ path }) => libOf(path) ?? []));
  return [count('libs', libs.size, [...libs]), count('rooms', rows.length, rows)];
}

/** The way of one streamed chat of four tokens. */
function way(product) {
  const chat = chatOf(product.root);
  const files = [...new Set(chat.map(({ file }) => file))].sort();
  const shapes = shapesOf(product, chat);
  const passing = passingClasses(product, files);
  return [
    count('a chat: files', files.length, files),
    count('a chat: functions', chat.length),
    count('a chat: shapes of the request', shapes.length, shapes),
    count('a chat: classes that only pass on', passing.length, passing),
  ];
}

function count(name, value, which = []) {
  return { name, count: value, which };
}

function line({ name, count: value, which }) {
  const row = `${name.padEnd(40)}${value.toLocaleString('en').padStart(9)}`;
  return flags.has('--which') ? [row, ...which.map((each) => `    ${each}`)].join('\n') : row;
}
