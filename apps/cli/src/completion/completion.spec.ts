import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../test/test-command';

describe('baton completion', () => {
  it('prints a script for bash that bash accepts, with every command and its flags', async () => {
    const { exitCode, stdout } = await runCommand('completion', 'bash');
    expect(exitCode).toBe(0);
    const checked = spawnSync('bash', ['-n'], { input: stdout, encoding: 'utf8' });
    expect([checked.status, checked.stderr]).toEqual([0, '']);
    expect(stdout).toContain('policy) common="');
    expect(stdout).toMatch(/bench\) common=".*--request-rate/);
  });

  async function offered(...words: readonly string[]): Promise<string[]> {
    const { stdout } = await runCommand('completion', 'bash');
    const quoted = ['baton', ...words].map((word) => `'${word}'`).join(' ');
    const asked = `COMP_WORDS=(${quoted}) COMP_CWORD=${words.length}; _baton; echo "\${COMPREPLY[@]}"`;
    const shell = spawnSync('bash', ['-c', `${stdout}\n${asked}`], { encoding: 'utf8' });
    return shell.stdout.trim().split(' ');
  }

  it.each([
    ['the name of a command', ['pol'], ['policy']],
    ['a trace', ['replay', '--trace', 'mooncake-c'], ['mooncake-conversation']],
    ['a GPU', ['up', '--gpu', 'h20'], ['h200', 'h20']],
    ['a model', ['plan', '--model', 'llama-3.1-40'], ['llama-3.1-405b']],
    ['a topology', ['up', '2P3'], ['2P3D']],
    ['a topology by its flag', ['replay', '--topology', '4P1'], ['4P12D']],
    ['a policy', ['up', '--placement', 'round'], ['round-robin']],
    ['an action', ['policy', 't'], ['test']],
    ['a value after = as bash splits it', ['up', '--gpu', '=', 'h20'], ['h200', 'h20']],
    ['a value directly after =', ['up', '--dialect', '='], ['openai', 'vllm']],
    ['a value after = in one word', ['up', '--placement=round'], ['--placement=round-robin']],
  ])('completes %s in bash', async (_what, words, expected) => {
    expect((await offered(...words)).sort()).toEqual([...expected].sort());
  });

  it('prints the same function for zsh, after the line with which zsh reads it', async () => {
    const [bash, zsh] = [
      await runCommand('completion', 'bash'),
      await runCommand('completion', 'zsh'),
    ];
    expect(zsh).toMatchObject({ exitCode: 0 });
    expect(zsh.stdout).toBe(`autoload -U +X bashcompinit && bashcompinit\n${bash.stdout}`);
  });

  it('offers common flags first, and every flag by its first letters', async () => {
    const first = await offered('up', '--');
    expect(first.slice(0, 3)).toEqual(['--model', '--gpu', '--quantization']);
    expect(first.length).toBeLessThan(40);
    expect(await offered('up', '--enable-chun')).toEqual(['--enable-chunked-prefill']);
    expect((await offered('up', '--max'))[0]).toBe('--max-model-len');
  });

  it('refuses a shell that it does not know', async () => {
    expect(await runCommand('completion', 'fish')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('<shell> must be bash or zsh') as string,
    });
  });
});
