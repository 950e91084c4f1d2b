import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

/** The checkout: this file is compiled into dist/bench. */
export const ROOT = join(__dirname, '..', '..');

/** Where and when a result was measured. Kept results carry it, and the documents print it. */
export interface Origin {
  /** Short hash of HEAD; with `+` when the tree differs from it. */
  readonly commit: string;
  /** UTC day, `2026-11-28`. */
  readonly date: string;
  readonly machine: string;
}

export function originNow(): Origin {
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
  return { commit: commitOf(), date, machine };
}

/** `unknown` outside of a git checkout. */
function commitOf(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', '--short=8', 'HEAD').trim()}${isChanged ? '+' : ''}`;
  } catch {
    return 'unknown';
  }
}

/** Writes a result to bench/results, with its origin first. */
export function keepResult(name: string, result: object): void {
  const text = JSON.stringify({ ...originNow(), ...result }, null, 2);
  writeFileSync(pathOf(name), `${text}\n`);
}

/** Undefined when none is kept. */
export function keptResult(name: string): (Origin & Record<string, unknown>) | undefined {
  if (!existsSync(pathOf(name))) return undefined;
  return JSON.parse(readFileSync(pathOf(name), 'utf8')) as Origin & Record<string, unknown>;
}

function pathOf(name: string): string {
  return join(ROOT, 'bench', 'results', `${name}.json`);
}
