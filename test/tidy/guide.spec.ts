import { join } from 'node:path';
import { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../apps/cli/src/commands';
import { allFiles, filesBelow, read, readJson, ROOT } from './repository';

interface GuidePage {
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly readers: readonly string[];
}

let guide: readonly GuidePage[] = [];
beforeAll(async () => {
  const module = (await import(join(ROOT, 'packages/docs-site/guide.mjs'))) as {
    GUIDE: readonly { readonly pages: readonly GuidePage[] }[];
  };
  guide = module.GUIDE.flatMap(({ pages }) => pages);
});

describe('the guide', () => {
  it('has every page of docs/ once, and no other', () => {
    const pages = filesBelow('docs').filter((path) => path.endsWith('.md'));
    const listed = pages.filter((path) => !/^docs\/(decisions\/|README\.md$)/.test(path)).sort();
    expect(guide.map(({ path }) => `docs/${path}.md`).sort()).toEqual(listed);
  });

  it('describes every page in a sentence, and states its readers', () => {
    const isBare = ({ title, description, readers }: GuidePage) =>
      title === '' || !description.endsWith('.') || readers.length === 0;
    expect(guide.filter(isBare)).toEqual([]);
  });

  it('is listed in docs/README.md (npm run docs)', async () => {
    const { guideIndex } = (await import(join(ROOT, 'scripts/guide-index.mjs'))) as {
      guideIndex: () => string;
    };
    expect(read('docs/README.md')).toBe(guideIndex());
  });
});

/** Lines of the shell blocks of a page, whole and without comments. */
function commandLines(page: string): string[] {
  const blocks = [...read(page).matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text]) => text ?? '');
  return blocks
    .flatMap((block) => block.replaceAll(/\\\n\s*/g, ' ').split('\n'))
    .map((line) => line.replace(/\s+#.*$/, '').trim());
}

const described = new Map<string, Command>();
beforeAll(async () => {
  for (const { name, complete } of COMMANDS) {
    const command = new Command(name);
    await complete(command, () => undefined);
    described.set(name, command);
  }
});

/** The first name in a line of a page that does not exist. */
function missing(line: string): string[] {
  const [, script] = /^npm (?:run |test)(?!\s*--prefix)\s*(?:--silent )?([\w:-]*)/.exec(line) ?? [];
  if (script !== undefined) {
    const { scripts } = readJson('package.json') as { scripts: Record<string, string> };
    return script === '' || script in scripts ? [] : [`npm run ${script}`];
  }
  const [, name = '', rest = ''] = /^(?:bin\/)?baton ([a-z]+)(.*)$/.exec(line) ?? [];
  if (name === '') return [];
  const command = described.get(name);
  if (command === undefined) return [`baton ${name}`];
  const known = new Set(command.options.flatMap(({ long, negate }) => (negate ? [] : [long])));
  // Text in quotes is a value.
  const given = rest.replaceAll(/'[^']*'|"[^"]*"/g, '').matchAll(/(?<=\s)--(?:no-)?([a-z][\w-]*)/g);
  return [...given].flatMap(([, flag]) => (known.has(`--${flag}`) ? [] : [`${name} --${flag}`]));
}

describe('the commands of the pages', () => {
  const pages = allFiles().filter((path) => path.endsWith('.md') && !path.startsWith('data/'));

  it('name existing commands, flags and scripts', () => {
    const lines = pages.flatMap((page) => commandLines(page).map((line) => ({ page, line })));
    const wrong = lines.flatMap(({ page, line }) =>
      missing(line).map((what) => `${page}: ${what}`),
    );
    expect(wrong).toEqual([]);
    expect(lines.filter(({ line }) => line.startsWith('bin/baton')).length).toBeGreaterThan(70);
  });

  it('of the tutorials that need another tool are marked as not run', () => {
    const lines = pages
      .filter((page) => page.startsWith('docs/tutorials/'))
      .flatMap((page) => read(page).split('\n'))
      .filter((line) => /^(docker|kubectl|vllm|guidellm) /.test(line));
    expect(lines.filter((line) => !line.includes('# not run here'))).toEqual([]);
    expect(lines.length).toBeGreaterThan(5);
  });
});
