import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './repository';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
const page = readFileSync(join(ROOT, 'docs', 'dependencies.md'), 'utf8');

/** Packages in the first column of the tables of a section. */
function listed(title: string): string[] {
  const [, section = ''] = page.split(`## ${title}\n`);
  const rows = (section.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  return rows
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)])
    .map(([, name]) => name ?? '');
}

describe('docs/dependencies.md', () => {
  it.each([
    ['At run time', manifest.dependencies],
    ['For development and tests', manifest.devDependencies],
  ] as const)('gives the reason for each package: %s', (title, packages) => {
    expect(listed(title).sort()).toEqual(Object.keys(packages).sort());
  });
});
