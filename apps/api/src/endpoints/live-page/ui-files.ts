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
 * The built page, read once into memory: by name `index.html` and the files below `assets/`. Empty
 * when it has not been built.
 */
export class UiFiles {
  private readonly files = new Map<string, UiFile>();

  /** @param folder where the page was built to; found from here unless given */
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

/** Beside the compiled code or, where sources run, above them. */
function builtFolder(): string | undefined {
  for (let at = __dirname; at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, BUILT, 'index.html'))) return join(at, BUILT);
  }
  return undefined;
}
