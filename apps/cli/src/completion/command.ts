import { UsageError } from '@baton/config';
import { Command } from 'commander';
import type { CommandRow } from '../commands';
import { COMMON_OPTIONS } from '../help/common-options';
import { type CompletedCommand, completionScript, ZSH_START } from './completion-script';
import { offeredValues, offeredWords } from './offered-values';

const SHELLS = ['bash', 'zsh'];
const EXAMPLES = `
Examples:
  source <(baton completion bash)     in ~/.bashrc
  source <(baton completion zsh)      in ~/.zshrc, after compinit`;

/** Makes `command` print a completion script for the commands `rows`. */
export function completeCompletion(command: Command, rows: readonly CommandRow[]): void {
  command
    .argument('<shell>', SHELLS.join(' or '))
    .addHelpText('after', EXAMPLES)
    .action(async (shell: string) => {
      if (!SHELLS.includes(shell)) {
        throw new UsageError(`<shell> must be ${SHELLS.join(' or ')}; '${shell}' is not.`);
      }
      const commands: CompletedCommand[] = [];
      for (const row of rows) commands.push(await completedCommand(row));
      process.stdout.write((shell === 'zsh' ? ZSH_START : '') + completionScript(commands));
    });
}

async function completedCommand({ name, complete }: CommandRow): Promise<CompletedCommand> {
  const described = new Command(name);
  await complete(described, () => undefined);
  const flags = [...described.options.flatMap(({ long }) => long ?? []), '--help'];
  const common = COMMON_OPTIONS[name] ?? flags;
  const offered = flags.map((flag) => [flag, offeredValues(name, flag)] as const);
  return {
    name,
    commonFlags: common,
    otherFlags: flags.filter((flag) => !common.includes(flag)),
    values: Object.fromEntries(offered.filter(([, values]) => values.length > 0)),
    words: offeredWords(name),
  };
}
