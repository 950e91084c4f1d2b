import { UsageError } from '@baton/config';
import { Command } from 'commander';
import type { CommandRow } from '../commands';

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
      const flags = new Map<string, string[]>();
      for (const { name, complete } of rows) {
        const described = new Command(name);
        await complete(described, () => undefined);
        flags.set(name, [...described.options.flatMap(({ long }) => long ?? []), '--help']);
      }
      process.stdout.write(shell === 'zsh' ? `${ZSH}${script(flags)}` : script(flags));
    });
}

/** zsh can run completion functions of bash. */
const ZSH = 'autoload -U +X bashcompinit && bashcompinit\n';

/** Completes the name of the command, then its flags. Elsewhere it completes files. */
function script(flags: ReadonlyMap<string, readonly string[]>): string {
  const cases = [...flags].map(([name, words]) => `    ${name}) words="${words.join(' ')}" ;;`);
  return `_baton() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="${[...flags.keys()].join(' ')}"
  else case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _baton baton bin/baton
`;
}
