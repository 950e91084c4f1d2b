// Imports between rooms: writes the tables in layers.json and the picture in docs/ARCHITECTURE.md
// from the imports.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiRoom, edgeCount, edgesBetween, libOf } from './rooms.mjs';
import { architectureWith } from './picture.mjs';

const TABLES = 'scripts/house/layers.json';
const PAGE = 'docs/ARCHITECTURE.md';

/**
 * The files that follow from the imports, as `[path, text]`. @throws Error when an import violates
 * the layers
 */
export function layerFiles(tree) {
  const before = JSON.parse(readFileSync(join(tree.root, TABLES), 'utf8'));
  const tables = tablesOf(tree, before);
  const page = readFileSync(join(tree.root, PAGE), 'utf8');
  return [
    [TABLES, `${JSON.stringify(tables, null, 2)}\n`],
    [PAGE, architectureWith(page, tree, tables)],
  ];
}

export function writeLayers(tree) {
  for (const [path, text] of layerFiles(tree)) writeFileSync(join(tree.root, path), text);
}

/** `libs` and `api` have the lowest layer first: a room imports rooms before it. */
function tablesOf({ product, specs }, before) {
  const libs = ordered(edgesBetween(product, libOf), Object.keys(before.libs));
  const upward = Object.entries(split(libs).back);
  if (upward.length > 0) {
    throw new Error(`A lib imports a lib of a higher layer: ${JSON.stringify(upward)}`);
  }
  const api = ordered(edgesBetween(product, apiRoom), Object.keys(before.api));
  const { forth, back } = split(api);
  requireFewer(new Map(Object.entries(before.back)), new Map(Object.entries(back)));
  const tested = ordered(edgesBetween(specs, libOf), [...libs.keys()]);
  const inSpecs = [...tested].map(([lib, to]) => [lib, without(to, libs.get(lib))]);
  return {
    pure: before.pure.filter((lib) => libs.has(lib)),
    libs: split(libs).forth,
    specs: Object.fromEntries(inSpecs.filter(([, to]) => to.length > 0)),
    api: forth,
    back,
  };
}

function without(names, others = []) {
  return names.filter((name) => !others.includes(name));
}

/** The rooms in the known order; a new room stands behind the last room that it imports. */
function ordered(edges, known) {
  const order = known.filter((room) => edges.has(room));
  for (const room of edges.keys()) {
    if (order.includes(room)) continue;
    const last = Math.max(-1, ...edges.get(room).map((each) => order.indexOf(each)));
    order.splice(last + 1, 0, room);
  }
  return new Map(order.map((room) => [room, inOrder(edges.get(room), order)]));
}

function inOrder(rooms, order) {
  return [...rooms].sort((a, b) => order.indexOf(a) - order.indexOf(b));
}

/** Splits imports into those of lower rooms and those against the order. */
function split(edges) {
  const order = [...edges.keys()];
  const part = (isKept) =>
    [...edges].map(([room, to]) => [room, to.filter((each) => isKept(order, room, each))]);
  const isForth = (rooms, room, each) => rooms.indexOf(each) < rooms.indexOf(room);
  const back = part((...each) => !isForth(...each)).filter(([, to]) => to.length > 0);
  return { forth: Object.fromEntries(part(isForth)), back: Object.fromEntries(back) };
}

function requireFewer(before, now) {
  if (edgeCount(now) <= edgeCount(before)) return;
  const added = [...now].flatMap(([room, to]) =>
    without(to, before.get(room)).map((each) => `${room} imports ${each}`),
  );
  throw new Error(
    `More imports in apps/api are against the order of its folders than before (${edgeCount(now)}, ` +
      `before ${edgeCount(before)}). New: ${added.join(', ')}. Turn one round, or change "back" in ${TABLES}.`,
  );
}

/** Paths of the files that differ from the imports; none in a checkout that has no such files. */
export function staleLayers(tree) {
  if (!existsSync(join(tree.root, TABLES))) return [];
  return layerFiles(tree)
    .filter(([path, text]) => readFileSync(join(tree.root, path), 'utf8') !== text)
    .map(([path]) => path);
}
