import { unknownFlag } from '@baton/config';
import { nearestName } from '@baton/kernel';
import { type Command, type CommanderError, Help } from 'commander';
import { isTopology } from './is-topology';

/** The flag for a word without one: the first row that matches and that the command has. */
const FLAGS_OF_WORDS: readonly (readonly [flag: string, matches: (word: string) => boolean])[] = [
  ['--base-url', (word) => /^https?:/.test(word)],
  ['--topology', isTopology],
  ['--input', () => true],
  ['--trace', () => true],
];

/** The error in a command line, and its correction. */
export function usageSentence(error: CommanderError, command: Command): string {
  const named = /'(.*?)'/.exec(error.message)?.[1] ?? '';
  switch (error.code) {
    case 'commander.unknownCommand':
      return unknownCommand(named, command);
    case 'commander.unknownOption':
      return unknownOption(named, command);
    case 'commander.optionMissingArgument':
      return `${named.replace(/ .*/, '')} needs a value: ${named}.`;
    case 'commander.missingArgument':
      return missingArgument(named, command);
    case 'commander.excessArguments':
      return excessArgument(command);
    default:
      return error.message.replace(/^error: /, '');
  }
}

function unknownCommand(name: string, program: Command): string {
  const names = program.commands.map((command) => command.name());
  const nearest = nearestName(name, names);
  const advice =
    nearest === undefined ? '. Run `baton --help` for the list.' : `; did you mean '${nearest}'?`;
  return `unknown command '${name}'${advice}`;
}

function unknownOption(name: string, command: Command): string {
  const sentence = unknownFlag(name, flagsOf(command));
  if (sentence.endsWith('?')) return sentence;
  return command.parent === null
    ? `${sentence} Write the command before its options, as in \`baton up --port 8000\`.`
    : `${sentence} Run \`${helpOf(command)}=all\` for the list.`;
}

function missingArgument(name: string, command: Command): string {
  const missing = command.registeredArguments.find((argument) => argument.name() === name);
  const needed = `${command.name()} needs <${name}>: ${missing?.description ?? name}.`;
  return `${needed} Run \`${helpOf(command)}\` for examples.`;
}

function excessArgument(command: Command): string {
  const { args, registeredArguments: accepted } = command;
  const name = command.name();
  const word = args[accepted.length]!;
  const [first] = accepted;
  if (first !== undefined) return `${name} accepts one ${first.name()}. Remove '${word}'.`;
  const flags = flagsOf(command);
  const [flag] =
    FLAGS_OF_WORDS.find(([each, matches]) => flags.includes(each) && matches(word)) ?? [];
  const advice = flag === undefined ? 'Remove it.' : `Write ${flag} ${word}, or remove it.`;
  return `${name} accepts no argument '${word}'. ${advice}`;
}

/** The flags in the whole help of a command. */
function flagsOf(command: Command): string[] {
  return new Help().visibleOptions(command).flatMap(({ long }) => long ?? []);
}

function helpOf(command: Command): string {
  return `baton ${command.name()} --help`;
}
