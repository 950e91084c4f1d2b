import { isModulePath, type ModulePath, UsageError } from '@baton/config';
import type { Command } from 'commander';
import type { Finish } from '../commands';
import { EXIT_CODES } from '../exit-codes';
import { addReplayOptions, type GivenReplayFlags } from '../replay/replay-flags';

const EXAMPLES = `
Actions:
  new NAME      Write NAME.mjs, a commented policy, and NAME.test.mjs, its test.
  test MODULE…  Replay one workload under each MODULE and each built-in policy, and compare.
  ask           Replay a workload with the decisions of a program on stdin and stdout
                (docs/python.md).

Examples:
  baton policy new my-policy
  baton policy new my-scaler --kind scaling
  baton policy new my-gate --kind flow-control
  baton policy test ./my-policy.mjs --trace mooncake-conversation --topology 4P4D --slo ttft=2s
  baton policy test examples/policies/llm*.mjs --trace mooncake-conversation --topology 4P4D
  baton policy test ./my-gate.mjs --kind flow-control --trace azure-code-2023 --topology 1P1D
  baton policy ask --trace mooncake-conversation --topology 4P4D --slo ttft=2s
  baton replay --trace mooncake-conversation --topology 4P4D --placement ./my-policy.mjs
  baton up 2P2D --placement ./my-policy.mjs

Exit codes of test --live: 0 done; 1 interrupted; 3 the live figures of a policy are void.`;

/** Makes `command` the tools for a user's policies. Its modules are loaded when it runs. */
export function completePolicy(command: Command, finish: Finish): void {
  command
    .argument('<action>', 'new, test or ask')
    .argument('[modules...]', 'name of a new policy, or paths of policies')
    .option(
      '--kind <kind>',
      'Kind of policy: placement, decode-placement, admission, flow-control, scheduling or ' +
        'scaling; ask has placement, decode-placement and scaling (default: placement).',
    )
    .option('--live', 'With test: also run each policy on a live cluster.')
    .addHelpText('after', EXAMPLES)
    .action(async (action: string, modules: string[], flags: GivenReplayFlags) =>
      finish(await run(action, modules, flags)),
    );
  addReplayOptions(command);
}

async function run(action: string, modules: string[], given: GivenReplayFlags): Promise<number> {
  const { kind = 'placement', ...flags } = given;
  if (action === 'ask') return ask(String(kind), modules, flags);
  if (action !== 'new' && action !== 'test') {
    throw new UsageError(`<action> must be new, test or ask; '${action}' is not.`);
  }
  if (modules.length === 0) {
    const [what, example] =
      action === 'new'
        ? ['name', 'my-policy']
        : ['module', './my-policy.mjs --trace azure-code-2023'];
    throw new UsageError(
      `policy ${action} needs a ${what}: \`baton policy ${action} ${example}\`.`,
    );
  }
  const { KINDS_OF_POLICIES, policyKindNamed } = await import('./policy-kinds');
  const chosen = policyKindNamed(String(kind));
  if (action === 'test') {
    const { comparePolicies } = await import('./compare-policies');
    return comparePolicies(KINDS_OF_POLICIES[chosen], modules.map(modulePath), flags);
  }
  const { writeExample } = await import('./new-policy');
  const written = modules.flatMap((name) => writeExample(name, chosen));
  process.stdout.write(`wrote ${written.join(' and ')}\n`);
  return EXIT_CODES.done;
}

async function ask(kind: string, modules: string[], flags: GivenReplayFlags): Promise<number> {
  if (kind !== 'placement' && kind !== 'decode-placement' && kind !== 'scaling') {
    throw new UsageError(
      `--kind must be placement, decode-placement or scaling with policy ask, not '${kind}'.`,
    );
  }
  const [module] = modules;
  if (module !== undefined) {
    throw new UsageError(`policy ask uses a program on stdin and stdout. Remove ${module}.`);
  }
  const { askProgram } = await import('./ask/ask-program');
  await askProgram(kind, flags);
  return EXIT_CODES.done;
}

function modulePath(given: string): ModulePath {
  if (isModulePath(given)) return given;
  throw new UsageError(`The policy ${given} is not an ES module. Rename it to *.mjs or *.js.`);
}
