/** What a shell offers after the name of one command. */
export interface CompletedCommand {
  readonly name: string;
  /** Offered for `-` and `--`, and first among the flags of a longer prefix. */
  readonly commonFlags: readonly string[];
  readonly otherFlags: readonly string[];
  /** Names of a flag's value. Flags without an entry complete files. */
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** Names for the arguments that are not flags. */
  readonly words: readonly string[];
}

/** zsh can run completion functions of bash. */
export const ZSH_START = 'autoload -U +X bashcompinit && bashcompinit\n';

/**
 * A completion function of bash. It keeps the order of what it offers, so that common flags are the
 * first; where it offers nothing, the shell completes files. `--flag=value` is one word in zsh, and
 * three in bash.
 */
export function completionScript(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  return `_baton() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  local words="" common="" other="" prefix=""
  case "$word" in --*=*) before="\${word%%=*}" prefix="\${word%%=*}=" word="\${word#*=}" ;; esac
  if [ "$word" = "=" ]; then word=""; else
    [ "$before" != "=" ] || before="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  compopt -o nosort 2>/dev/null
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]} $before" in
${commands.flatMap(valueCases).join('\n')}
  esac
  if [ -z "$words" ]; then case "\${COMP_WORDS[1]}" in
${commands.map(flagCase).join('\n')}
  esac; fi
  case "$word" in
    -|--) COMPREPLY=($(compgen -W "$common" -- "$word")) ;;
    -*) COMPREPLY=($(compgen -W "$common $other" -- "$word")) ;;
    *) COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "$word")) ;;
  esac
}
complete -o default -F _baton baton bin/baton
`;
}

/** Flags of one command with the same values share a line. */
function valueCases({ name, values }: CompletedCommand): string[] {
  const flagsOf = new Map<string, string[]>();
  for (const [flag, names] of Object.entries(values)) {
    const words = names.join(' ');
    flagsOf.set(words, [...(flagsOf.get(words) ?? []), flag]);
  }
  return Array.from(flagsOf, ([words, flags]) => {
    const patterns = flags.map((flag) => `"${name} ${flag}"`).join('|');
    return `    ${patterns}) words="${words}" ;;`;
  });
}

function flagCase({ name, commonFlags, otherFlags, words }: CompletedCommand): string {
  return (
    `    ${name}) common="${commonFlags.join(' ')}" other="${otherFlags.join(' ')}"\n` +
    `      [[ "$before" == -* ]] || words="${words.join(' ')}" ;;`
  );
}
