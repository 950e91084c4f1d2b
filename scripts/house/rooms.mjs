// Rooms: the folders of apps/api, the libs and their folders, and the imports between them.
import { dirname } from 'node:path';

/** Folders of apps/api whose folders are rooms themselves. */
const FLOORS = new Set(['request', 'observers', 'endpoints']);

/** The room of a file of apps/api: `http`, `request/admit`; undefined outside, or at the root. */
export function apiRoom(path) {
  const inside = /^apps\/api\/src\/(.+)\/[^/]+$/.exec(path)?.[1];
  if (inside === undefined) return undefined;
  const [first, second] = inside.split('/');
  return FLOORS.has(first) && second !== undefined ? `${first}/${second}` : first;
}

/** The lib of a file; undefined outside of libs. */
export function libOf(path) {
  return /^libs\/([^/]+)\/(?:src|test)\//.exec(path)?.[1];
}

/** `kvcache/table`: the folder directly below a lib's `src`; undefined at its root. */
export function libFolder(path) {
  const match = /^libs\/([^/]+)\/src\/([^/]+)\/./.exec(path);
  return match === null ? undefined : `${match[1]}/${match[2]}`;
}

/** Imports between rooms as a map from room to the sorted rooms that it imports. */
export function edgesBetween(files, roomOf) {
  const edges = new Map();
  for (const { path, imports } of files) {
    const from = roomOf(path);
    if (from === undefined) continue;
    if (!edges.has(from)) edges.set(from, new Set());
    for (const target of imports) {
      const to = roomOf(target);
      if (to !== undefined && to !== from) edges.get(from).add(to);
    }
  }
  return new Map([...edges].sort().map(([from, to]) => [from, [...to].sort()]));
}

export function edgeCount(edges) {
  return [...edges.values()].reduce((sum, to) => sum + to.length, 0);
}

/** `a ↔ b` of all pairs of rooms that import each other. */
export function mutualPairs(edges) {
  return [...edges].flatMap(([from, to]) =>
    to
      .filter((each) => from < each && edges.get(each)?.includes(from))
      .map((each) => `${from} ↔ ${each}`),
  );
}

/** The number of files directly in each folder, the fullest first. */
export function folderSizes(files) {
  const sizes = new Map();
  for (const { path } of files) sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1);
  return [...sizes].sort((a, b) => b[1] - a[1]);
}
