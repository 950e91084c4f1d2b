// The picture of docs/ARCHITECTURE.md and its table of folders, as text.
import { edgesBetween, libOf } from './rooms.mjs';

/** The page with new text between its marks. */
export function architectureWith(page, tree, tables) {
  const libs = replaced(page, 'libs', picture(allEdges(tree, tables), tables.pure));
  return replaced(libs, 'api', folderTable(tables));
}

/** @throws Error when the page has no such marks */
function replaced(page, name, text) {
  const [begin, end] = [`<!-- made: ${name} -->\n`, `<!-- end: ${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/ARCHITECTURE.md has no mark ${begin}`);
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`;
}

/** Imports of libs and of apps, lowest layer first. */
function allEdges({ product }, { libs }) {
  const roomOf = (path) => libOf(path) ?? /^apps\/([^/]+)\/src\//.exec(path)?.[1];
  const edges = edgesBetween(product, roomOf);
  const apps = [...edges.keys()].filter((room) => libs[room] === undefined);
  return new Map([...Object.keys(libs), ...apps].map((room) => [room, edges.get(room) ?? []]));
}

function picture(edges, pure) {
  const arrows = arrowsOf(edges);
  const inside = arrows.filter(({ to }) => pure.includes(to));
  const outside = arrows.filter(({ to }) => !pure.includes(to));
  return [
    '```mermaid',
    'flowchart LR',
    '  subgraph pure [pure: no clock, no chance, no I/O]',
    ...inside.map((arrow) => `    ${line(arrow)}`),
    '  end',
    ...outside.map((arrow) => `  ${line(arrow)}`),
    '```',
    '',
  ].join('\n');
}

/**
 * One arrow per room, from all rooms that it imports except those that it reaches through others.
 */
function arrowsOf(edges) {
  const reached = new Map();
  for (const [room, to] of edges) {
    reached.set(room, new Set(to.flatMap((each) => [each, ...(reached.get(each) ?? [])])));
  }
  return [...edges]
    .map(([to, all]) => ({
      to,
      from: all.filter((each) => !all.some((other) => reached.get(other)?.has(each))),
    }))
    .filter(({ from }) => from.length > 0);
}

function line({ from, to }) {
  return `${from.join(' & ')} --> ${to}`;
}

function folderTable({ api }) {
  const rows = Object.entries(api).map(([folder, to]) => [`\`${folder}\``, to.join(', ')]);
  return table([['Folder', 'Imports'], ...rows]);
}

/** Markdown of a table; the first row is its head. */
function table([head, ...rows]) {
  const row = (cells) => `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |');
  return [row(head), row(head.map(() => '---')), ...rows.map(row), ''].join('\n');
}
