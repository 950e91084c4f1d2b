import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

const BUILT = join('dist', 'apps', 'ui');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface UiFile {
  readonly type: string;
  readonly body: Buffer;
}

/**
 * The built page, read into memory once: `index.html` and the files below `assets/`, by name. Empty
 * when the page has not been built.
 */
export class UiFiles {
  private readonly files = new Map<string, UiFile>();

  /** @param folder of the built page; by default located relative to this file */
  constructor(folder: string | undefined = builtFolder()) {
    if (folder === undefined) return;
    for (const path of ['.', 'assets']) {
      const names = existsSync(join(folder, path)) ? readdirSync(join(folder, path)) : [];
      for (const name of names) this.read(folder, path === '.' ? name : `${path}/${name}`);
    }
  }

  find(name: string): UiFile | undefined {
    return this.files.get(name);
  }

  private read(folder: string, name: string): void {
    const type = TYPES[extname(name)];
    if (type !== undefined) this.files.set(name, { type, body: readFileSync(join(folder, name)) });
  }
}

/** Beside the compiled code, or above the sources when those run. */
function builtFolder(): string | undefined {
  for (let at = __dirname; at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, BUILT, 'index.html'))) return join(at, BUILT);
  }
  return undefined;
}
