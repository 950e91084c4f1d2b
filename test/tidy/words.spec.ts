import { configKeys, fileName, optionOf } from '@baton/config';
import { ERRORS } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import { allFiles, isCode, read } from './repository';

/** Words in the left column of docs/WRITING.md: personification and unclear phrases. */
const BANNED =
  /\b(nobody|somebody|whoever|how manieth|(is|are) told(?! apart)|as many as may|sits right of|whatever \w+ thinks)\b/i;

const pages = allFiles().filter(
  (path) => path.endsWith('.md') && !path.startsWith('data/') && path !== 'docs/WRITING.md',
);
const sources = allFiles().filter(
  (path) => isCode(path) && !/\.spec\.ts$|^test\/|\/test\//.test(path),
);

const texts = allFiles().filter(
  (path) => /\.ya?ml$/.test(path) && !/^(data|\.|out)/.test(path) && !path.includes('/test/'),
);

/** The texts of the diagrams of a page. */
function diagramsOf(page: string): string {
  return [...read(page).matchAll(/```mermaid\n([\s\S]*?)```/g)].map(([, text]) => text).join('\n');
}

/** A page without code, and without the titles of tests that it quotes. */
function proseOf(page: string): string {
  return read(page)
    .replace(/```[\s\S]*?```/g, '')
    .replace(/`[^`\n]*`/g, 'code')
    .replace(/"[^"\n]*"/g, 'title')
    .replace(/\[[^\]]*\]\([^)]*\.spec\.ts\)/g, 'title');
}

describe('the words', () => {
  it('of pages are plain', () => {
    const lines = pages.flatMap((page) =>
      proseOf(page)
        .split('\n')
        .map((line) => `${page}: ${line}`),
    );
    expect(pages.length).toBeGreaterThan(100);
    expect(lines.filter((line) => BANNED.test(line))).toEqual([]);
  });

  it('of diagrams are plain', () => {
    const lines = pages.flatMap((page) => diagramsOf(page).split('\n'));
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => BANNED.test(line))).toEqual([]);
  });

  it('of alerts, compose files and other YAML are plain', () => {
    const lines = texts.flatMap((path) => read(path).split('\n'));
    expect(texts).toContain('docker-compose.yml');
    expect(texts.some((path) => path.endsWith('alerts.yml'))).toBe(true);
    expect(lines.filter((line) => BANNED.test(line))).toEqual([]);
  });

  it('of errors are plain', () => {
    const messages = Object.values(ERRORS).map(({ message }) => message);
    expect(messages.filter((message) => BANNED.test(message))).toEqual([]);
    expect(messages.length).toBeGreaterThan(40);
  });

  it('of option helps are plain, and end as sentences', () => {
    const helps = configKeys().map((key) => `${fileName(key)}: ${optionOf(key).help}`);
    expect(helps.filter((help) => BANNED.test(help))).toEqual([]);
    expect(helps.filter((help) => !/[.)]$/.test(help))).toEqual([]);
  });

  it('of comments and messages in the code are plain', () => {
    const lines = sources.flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) =>
          BANNED.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
        ),
    );
    expect(lines).toEqual([]);
  });
});
