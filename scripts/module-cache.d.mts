/** The folder of compiled modules of the tree at `root`; it exists. */
export function moduleCache(root: string): string;
