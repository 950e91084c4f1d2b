// Imports between rooms: writes the tables in layers.json and the pictures in docs/ARCHITECTURE.md
// from the imports.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiRoom, edgesBetween, libFolder, libOf } from './rooms.mjs';
import { architectureWith } from './picture.mjs';

const TABLES = 'scripts/house/layers.json';
const PAGE = 'docs/ARCHITECTURE.md';

/**
 * The files that follow from the imports, as `[path, text]`. @throws Error when imports form a
 * circle
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

/**
 * Each table has the lowest layer first: a room imports rooms before it. `folders` has those of the
 * libs, `specs` what the specs of a lib import beyond the lib itself.
 */
function tablesOf({ product, specs }, before) {
  const libs = layered(edgesBetween(product, libOf));
  const known = Object.keys(libs);
  const tested = edgesBetween(specs, libOf);
  const beyond = known
    .map((lib) => [lib, (tested.get(lib) ?? []).filter((to) => !libs[lib].includes(to))])
    .filter(([, to]) => to.length > 0);
  return {
    pure: known.filter((lib) => before.pure.includes(lib)),
    libs,
    specs: Object.fromEntries(beyond),
    api: layered(edgesBetween(product, apiRoom)),
    folders: foldersOf(product, known),
  };
}

/** The tables of the libs with more than one folder. Files at a lib's root bind its folders. */
function foldersOf(product, libs) {
  const tables = libs.map((lib) => {
    const inLib = product.filter(({ path }) => libOf(path) === lib);
    const ofLib = (path) => (libOf(path) === lib ? libFolder(path)?.split('/')[1] : undefined);
    return [lib, layered(edgesBetween(inLib, ofLib))];
  });
  return Object.fromEntries(tables.filter(([, rooms]) => Object.keys(rooms).length > 1));
}

/** The rooms in an order in which each imports only earlier ones. @throws Error without such */
function layered(edges) {
  const order = [];
  const left = new Map(edges);
  while (left.size > 0) {
    const free = [...left].filter(([, to]) => to.every((each) => !left.has(each)));
    if (free.length === 0) throw new Error(`Rooms import each other: ${circleIn(left)}`);
    for (const [room] of free) {
      order.push(room);
      left.delete(room);
    }
  }
  const sorted = (to) => [...to].sort((a, b) => order.indexOf(a) - order.indexOf(b));
  return Object.fromEntries(order.map((room) => [room, sorted(edges.get(room))]));
}

/** `a → b → a`: one circle among rooms that each import one of the others. */
function circleIn(rooms) {
  const way = [[...rooms.keys()][0]];
  for (;;) {
    const next = rooms.get(way.at(-1)).find((each) => rooms.has(each));
    if (way.includes(next)) return [...way.slice(way.indexOf(next)), next].join(' → ');
    way.push(next);
  }
}

/** Paths of the files that differ from the imports; none in a checkout that has no such files. */
export function staleLayers(tree) {
  if (!existsSync(join(tree.root, TABLES))) return [];
  return layerFiles(tree)
    .filter(([path, text]) => readFileSync(join(tree.root, path), 'utf8') !== text)
    .map(([path]) => path);
}
