import { describe, expect, it } from 'vitest';
import { runCommand } from '../../apps/cli/test/test-command';
import { expectGolden } from './golden-file';

const RUN = [
  ...['--dataset', 'random', '--num-prompts', '12', '--request-rate', '8', '--seed', '3'],
  ...['--random-input-len', '400', '--random-output-len', '20', '--topology', '1P1D'],
  ...['--step-time', 'constant', '--time-to-first-token', '100', '--inter-token-latency', '10'],
];

/** Every figure of a replay without the configuration, which grows with the options. */
async function figures(...flags: string[]): Promise<string> {
  const { stdout } = await runCommand('replay', ...RUN, '--json', ...flags);
  const { config, wall_seconds, requests_per_wall_second, ...rest } = JSON.parse(stdout) as Record<
    string,
    unknown
  >;
  expect(config).toHaveProperty('frontend');
  expect([typeof wall_seconds, typeof requests_per_wall_second]).toEqual(['number', 'number']);
  return `${JSON.stringify(rest, null, 2)}\n`;
}

describe('a replay', () => {
  it('without a front end has the recorded figures', async () => {
    expectGolden('replay-none.json', await figures('--frontend', 'none'));
  });

  it("adds vllm's front end to the time of each request, once a server", async () => {
    expectGolden('replay-vllm.json', await figures('--frontend', 'vllm'));
  });
});
