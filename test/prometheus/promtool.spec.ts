import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { filesBelow, ROOT } from '../tidy/repository';

const RULES = filesBelow('deploy/prometheus/rules');
const TESTS = filesBelow('deploy/prometheus/tests');

function expectContent(args: readonly string[]): void {
  const { stdout, stderr, status, error } = spawnSync('promtool', args, {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
}

describe('deploy/prometheus', () => {
  it('has a configuration that promtool accepts', () => {
    expectContent(['check', 'config', 'deploy/prometheus/prometheus.yml']);
  });

  it('has rules that promtool accepts', () => {
    expectContent(['check', 'rules', ...RULES]);
  });

  it('has rules that pass their tests', () => {
    expectContent(['test', 'rules', ...TESTS]);
  });
});
