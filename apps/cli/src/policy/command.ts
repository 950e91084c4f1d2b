import { UsageError } from '@baton/config';
import type { Command } from 'commander';
import { addReplayOptions, type GivenReplayFlags } from '../replay/replay-flags';

const EXAMPLES = `
Actions:
  new NAME      Write NAME.mjs, a commented placement policy, and NAME.test.mjs, its test.
  test MODULE   Replay one workload under MODULE and under the built-in policies, and compare.

Examples:
  baton policy new my-policy
  baton policy test ./my-policy.mjs --trace mooncake-conversation --topology 4P4D --slo ttft=2s
  baton replay --trace mooncake-conversation --topology 4P4D --placement ./my-policy.mjs
  baton up 2P2D --placement ./my-policy.mjs`;

/** Makes `command` the tools for a user's policies. Its modules are loaded when it runs. */
export function completePolicy(command: Command): void {
  command
    .argument('<action>', 'new or test')
    .argument('<module>', 'name of a new policy, or path of one')
    .addHelpText('after', EXAMPLES)
    .action((action: string, module: string, flags: GivenReplayFlags) =>
      run(action, module, flags),
    );
  addReplayOptions(command);
}

async function run(action: string, module: string, flags: GivenReplayFlags): Promise<void> {
  if (action === 'new') {
    const { writeExample } = await import('./new-policy');
    process.stdout.write(`wrote ${writeExample(module).join(' and ')}\n`);
  } else if (action === 'test') {
    const { comparePolicies } = await import('./compare-policies');
    await comparePolicies(module, flags);
  } else throw new UsageError(`'${action}' is neither new nor test.`);
}
