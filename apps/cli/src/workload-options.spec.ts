import { configKeys } from '@baton/config';
import { flagNameOf, splitWorkloadFlags, WORKLOAD_FLAGS } from '@baton/replay';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addConfigOptions } from './options';
import { addWorkloadOptions } from './workload-options';

function parsed(...args: string[]): ReturnType<typeof splitWorkloadFlags<string | boolean>> {
  const command = new Command('replay').exitOverride();
  addWorkloadOptions(command);
  addConfigOptions(command);
  command.option('--json');
  return splitWorkloadFlags(command.parse(args, { from: 'user' }).opts());
}

describe('workload flags', () => {
  it('are in the help, beside the options of the configuration', () => {
    const command = new Command('replay');
    addWorkloadOptions(command);
    const help = command.helpInformation();
    for (const name of WORKLOAD_FLAGS) expect(help).toContain(`  ${flagNameOf(name)} <`);
    expect(help).not.toContain('--dataset-name');
    expect(configKeys().filter((key) => (WORKLOAD_FLAGS as string[]).includes(key))).toEqual([]);
  });

  it('are separated from all others', () => {
    expect(
      parsed('--num-prompts', '5', '--seed', '7', '--json', '--dataset-name', 'random'),
    ).toEqual({
      workload: { numPrompts: '5', dataset: 'random' },
      others: { seed: '7', json: true },
    });
  });

  it.each([
    [['--dataset', 'recorded', '--dataset-file', 'f'], { trace: 'f', traceFormat: 'baton' }],
    [['--dataset-name', 'timed_trace', '--trace', 'f'], { trace: 'f', traceFormat: 'mooncake' }],
    [['--dataset', 'trace', '--dataset-file', 'f'], { trace: 'f' }],
    [['--dataset', 'sharegpt', '--dataset-file', 'f'], { dataset: 'sharegpt', datasetFile: 'f' }],
    [['--dataset', 'sharegpt', '--dataset-path', 'f'], { dataset: 'sharegpt', datasetFile: 'f' }],
  ])('accept the notation of other tools for a trace: %j', (args, workload) => {
    expect(parsed(...args).workload).toEqual(workload);
  });

  it('require the file of a dataset that needs one', () => {
    expect(() => parsed('--dataset', 'recorded')).toThrow(
      '--dataset recorded needs --dataset-file FILE.',
    );
    expect(() => parsed('--dataset-file', 'f', '--dataset-path', 'f')).toThrow(
      '--dataset-file and --dataset-path are the same flag. Remove one.',
    );
    expect(() => parsed('--dataset', 'azure', '--trace', 'f', '--dataset-file', 'g')).toThrow(
      '--trace and --dataset-file set the same file. Remove one.',
    );
  });
});
