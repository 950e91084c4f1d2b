// Rooms: the libs, the folders of apps/api and of the libs, and the imports between them.

/** Folders of apps/api whose folders are rooms themselves. */
const FLOORS = new Set(['request', 'observers', 'endpoints', 'compat']);

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

/** `kvcache/pool`: the folder directly below a lib's `src`; undefined at its root. */
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
