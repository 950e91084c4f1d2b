import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../test/test-command';

describe('baton completion', () => {
  it('prints a script for bash that bash accepts, with every command and its flags', async () => {
    const { exitCode, stdout } = await runCommand('completion', 'bash');
    expect(exitCode).toBe(0);
    const checked = spawnSync('bash', ['-n'], { input: stdout, encoding: 'utf8' });
    expect([checked.status, checked.stderr]).toEqual([0, '']);
    expect(stdout).toContain('policy) words="');
    expect(stdout).toMatch(/bench\) words=".*--request-rate/);
  });

  it('completes the name of a command in bash', async () => {
    const { stdout } = await runCommand('completion', 'bash');
    const asked = 'COMP_WORDS=(baton pol) COMP_CWORD=1; _baton; echo "${COMPREPLY[@]}"';
    const { stdout: completed } = spawnSync('bash', ['-c', `${stdout}\n${asked}`], {
      encoding: 'utf8',
    });
    expect(completed.trim()).toBe('policy');
  });

  it('refuses a shell that it does not know', async () => {
    expect(await runCommand('completion', 'fish')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('<shell> must be bash or zsh') as string,
    });
  });
});
