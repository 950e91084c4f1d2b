import { readFileSync } from 'node:fs';
import { Command, Help } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { COMMANDS } from './commands';
import { runProgram } from './program';

async function run(...args: string[]): Promise<{ exitCode: number; stderr: string }> {
  const written: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
  return { exitCode: await runProgram(args), stderr: written.join('') };
}

afterEach(() => vi.restoreAllMocks());

describe('the command line', () => {
  it.each([
    [['up', '--modle', 'x'], "baton: unknown option '--modle'; did you mean '--model'?\n"],
    [
      ['up', '--port', 'eighty'],
      "baton: --port must be an integer from 0 to 65535; 'eighty' is not.\n",
    ],
    [
      ['up', '--config', 'no.yaml'],
      'baton: The configuration file no.yaml cannot be read: ENOENT: no such file or directory.\n',
    ],
    [
      ['up', '--role', 'decode'],
      'baton: --role needs a Redis shared by all roles. Add --redis URL (or REDIS_URL).\n',
    ],
  ])('refuses %j with one sentence and exit code 2', async (args, sentence) => {
    vi.stubEnv('REDIS_URL', '');
    expect(await run(...args)).toEqual({ exitCode: 2, stderr: sentence });
  });

  it('exits with code 0 after a request for help', async () => {
    expect((await run('up', '--help')).exitCode).toBe(0);
    expect((await run('--help')).exitCode).toBe(0);
    expect((await run('--version')).exitCode).toBe(0);
  });

  it('shows the first steps without a command, and each is a command', async () => {
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const { exitCode } = await run();
    const text = written.mock.calls.map(([line]) => String(line)).join('');
    written.mockRestore();
    expect(exitCode).toBe(0);
    const named = [...text.matchAll(/^ {2}baton (\S+)/gm)].map(([, name]) => name);
    expect(named).toEqual(['up', 'bench', 'replay', 'plan', 'docs']);
    // The commands of the README run without a warning (test/e2e/readme.spec.ts).
    const joined = text.replace(/ \\\n +/g, ' ');
    const [plan] = /baton plan .*/.exec(joined) ?? [];
    expect(readFileSync('README.md', 'utf8')).toContain(`bin/${plan}\n`);
    const [, ...replay] = (/baton replay .*/.exec(joined)?.[0] ?? '').split(' ');
    expect(await run(...replay)).toEqual({ exitCode: 0, stderr: '' });
  });

  it('loads no flags of commands for its version and list of commands', async () => {
    const completed = COMMANDS.map((row) => vi.spyOn(row, 'complete'));
    await run('--version');
    await run('--help');
    for (const complete of completed) expect(complete).not.toHaveBeenCalled();
    await run('doctor', '--help');
    const calls = completed.map(({ mock }) => mock.calls.length);
    expect(calls.filter((count) => count > 0)).toEqual([1]);
  });

  it.each(COMMANDS)('lists $name with its arguments and flags', async (row) => {
    const command = new Command(row.name);
    await row.complete(command, () => undefined);
    expect(new Help().subcommandTerm(command)).toBe(`${row.name} ${row.usage}`.trimEnd());
  });
});
