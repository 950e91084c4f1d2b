import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VLLM_FRONT_END } from '@baton/step-time';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatonConfig, defaultConfig } from '../config';
import { UsageError } from '../usage-error';
import { frontEndOf as frontEndOfOptions, withFrontEnd } from './front-end-of';

const frontEndOf = ({ frontend }: Pick<BatonConfig, 'frontend'>, apiServerCount = 1) =>
  frontEndOfOptions({ frontend, apiServerCount });

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-front-end-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the option frontend', () => {
  it('names the front end of vLLM, or none', () => {
    expect(frontEndOf({ frontend: 'vllm' })).toEqual(VLLM_FRONT_END);
    expect(frontEndOf({ frontend: 'none' })).toBeUndefined();
    expect(frontEndOf({ frontend: undefined })).toBeUndefined();
  });

  it('has the configured number of servers for each engine', () => {
    expect(frontEndOf({ frontend: 'vllm' }, 4)).toEqual({ ...VLLM_FRONT_END, serversPerEngine: 4 });
    expect(frontEndOf({ frontend: '{request_ms: 2}' }, 3)?.serversPerEngine).toBe(3);
  });

  it('holds the fields of a front end, or names a file with them', () => {
    const own = { requestUs: 2_000, promptTokenUs: 3, dispatch: 'concurrent' };
    const fields = '{request_ms: 2, prompt_token_us: 3, dispatch: concurrent}';
    expect(frontEndOf({ frontend: fields })).toMatchObject({ ...own, name: 'fields' });
    const path = join(folder, 'own.yaml');
    writeFileSync(path, 'request_ms: 2\nprompt_token_us: 3\ndispatch: concurrent\n');
    expect(frontEndOf({ frontend: path })).toMatchObject({ ...own, name: path });
  });

  it.each([
    ['vlm', "frontend must be vllm, none, the path of a YAML file, or {fields}; 'vlm' is none"],
    ['{request_ms: -1}', "frontend fields cannot be used: 'request_ms' must be a number from 0"],
    ['{request_ms', 'frontend fields cannot be read: '],
    ['./nowhere.yaml', 'frontend ./nowhere.yaml does not exist.'],
  ])('is refused as %s', (frontend, why) => {
    expect(() => frontEndOf({ frontend })).toThrow(UsageError);
    expect(() => frontEndOf({ frontend })).toThrow(why);
  });
});

describe('a run without the option frontend', () => {
  const implied = (over: Partial<BatonConfig>) => withFrontEnd(defaultConfig(over)).frontend;

  it("has vLLM's, unless clients measured the time of a prompt", () => {
    expect(implied({})).toBe('vllm');
    expect(implied({ stepTime: 'roofline' })).toBe('vllm');
    expect(implied({ stepTime: 'constant' })).toBe('none');
    expect(implied({ topology: '2A', stepTime: 'per-token' })).toBe('none');
    expect(implied({ topology: '1P1D', prefillStepTime: 'constant' })).toBe('none');
    expect(implied({ topology: '1P1D', decodeStepTime: 'constant' })).toBe('vllm');
  });

  it.each([
    ['front_end: included', 'none'],
    ['front_end: {request_ms: 6.6}', '{"request_ms":6.6}'],
    ['overhead_ms: 1', 'vllm'],
  ])('has the front end of its profile with %s', (line, frontend) => {
    const stepTimeFile = join(folder, 'profile.yaml');
    writeFileSync(stepTimeFile, `kind: calibrated\n${line}\n`);
    expect(implied({ stepTimeFile })).toBe(frontend);
    expect(implied({ prefillStepTimeFile: stepTimeFile })).toBe(frontend);
    expect(implied({ stepTimeFile, stepTime: 'roofline' })).toBe('vllm');
    expect(() => frontEndOf({ frontend })).not.toThrow();
  });

  it('keeps a configured front end', () => {
    expect(implied({ frontend: 'none' })).toBe('none');
    expect(implied({ frontend: 'vllm', stepTime: 'constant' })).toBe('vllm');
  });
});
