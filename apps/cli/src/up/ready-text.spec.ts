import { defaultConfig } from '@baton/config';
import { NO_ENGINES, planProcesses } from '@baton/supervisor';
import { describe, expect, it } from 'vitest';
import { readyText } from './ready-text';

function textFor(engines: { prefill: number; decode: number }, perProcess?: number): string {
  const config = { ...defaultConfig({}), enginesPerProcess: perProcess };
  const specs = planProcesses(config, { ...NO_ENGINES, ...engines }, 2);
  return readyText({ config, specs, seconds: 1 });
}

describe('the text of a ready cluster', () => {
  it('says which engines share a process and why', () => {
    const text = textFor({ prefill: 2, decode: 3 });
    expect(text).toMatch(
      /^ {2}2 prefill engines share a process, 3 decode engines share a process, because this machine has \d+ cores?; --engines-per-process 1 gives each its own\.$/m,
    );
  });

  it.each([
    [{ prefill: 1, decode: 1 }, undefined],
    [{ prefill: 2, decode: 2 }, 2],
  ])('says nothing about %j at %s per process', (engines, perProcess) => {
    expect(textFor(engines, perProcess)).not.toContain('share');
  });
});
