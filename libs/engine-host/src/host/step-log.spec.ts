import { type MeasuredStep, parseStepLogLine } from '@baton/calibration';
import { defaultConfig, engineSetup } from '@baton/config';
import { RandomStream } from '@baton/kernel';
import { createLogger } from '@baton/telemetry';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { World } from '../../test/test-world';
import { StepLog } from '../run/observers/step-log';

const REQUESTS = 40;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-step-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function steps(file: string): Promise<MeasuredStep[]> {
  const config = defaultConfig({ logSteps: file });
  const log = await StepLog.open(config, createLogger({ name: 'test', level: 'silent' }));
  const { setup, onStep } = log!.watch(engineSetup(config, 'aggregated'), 'aggregated');
  const world = await World.open();
  await world.host('aggregated', { engine: setup.options, host: { onStep } });
  const random = RandomStream.root(1).stream('step log');
  for (let row = 0; row < REQUESTS; row++) {
    const [promptTokens, outputTokens] = [1 + random.integer(3_000), 1 + random.integer(60)];
    await world.submit(row, { promptTokens, outputTokens, flow: 'local' });
    await world.wall.advance(random.integer(40_000));
  }
  expect(await world.untilEnded(...Array.from({ length: REQUESTS }, (_none, row) => row))).toBe(
    true,
  );
  await world.close();
  await log!.close();
  return readFileSync(file, 'utf8').trimEnd().split('\n').map(parseStepLogLine);
}

describe('the log of steps', () => {
  it('is off by default', async () => {
    const log = createLogger({ name: 'test', level: 'silent' });
    expect(await StepLog.open(defaultConfig(), log)).toBeUndefined();
  });

  it('refuses a file that cannot be written, in one sentence', async () => {
    const log = createLogger({ name: 'test', level: 'silent' });
    const file = join(folder, 'no-folder');
    writeFileSync(file, '');
    const config = defaultConfig({ logSteps: join(file, 'steps.jsonl') });
    await expect(StepLog.open(config, log)).rejects.toThrow(/cannot be written: E(NOTDIR|EXIST)/);
  });

  it('has each step with the sums of its batch and its duration', async () => {
    const seen = await steps(join(folder, 'steps.jsonl'));
    const { stepTime } = engineSetup(defaultConfig(), 'aggregated').options;
    const phases = seen.map((step) => `${step.prefillTokens > 0}${step.decodeSeqs > 0}`);
    expect(new Set(phases)).toEqual(new Set(['truefalse', 'falsetrue', 'truetrue']));
    expect(Math.max(...seen.map((step) => step.decodeSeqs))).toBeGreaterThan(5);
    for (const step of seen) {
      const expectedMs = stepTime.stepUs({ ...step, kvUsage: 0 }) / 1_000;
      expect(Math.abs(step.ms - expectedMs)).toBeLessThanOrEqual(0.000_51);
    }
  });

  it('appends to the file of another process', async () => {
    const file = join(folder, 'steps.jsonl');
    const first = await steps(file);
    expect((await steps(file)).length).toBe(2 * first.length);
  });
});
