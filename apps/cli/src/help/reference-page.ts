import { isConfigKey, SECTIONS } from '@baton/config';
import { Command, Help, type Option } from 'commander';
import { type CommandRow, COMMANDS } from '../commands';
import { OPTIONS_FOOTER } from '../options';
import { OWN_GROUP, titleOf, topicOf, visibleOptions } from './show-help';

const INTRODUCTION = `# Command line

<!-- Written by \`npm run docs\` from the help of each command; do not edit. -->

For users who look up a command or a flag. A command ends with exit code 0 when it is done, with 1
after a failure, and with 2 after wrong usage. A section names further codes. A failure is one
sentence on stderr. \`baton --version\` prints the version. A flag can also be written with
underscores, as in \`--max_num_seqs\`. These forms show the help in a terminal:

| Form | Shows |
| --- | --- |
| \`baton --help\` | all commands |
| \`baton up --help\` | the common flags of one command, and its groups |
| \`baton up --help=listgroup\` | the groups of its flags |
| \`baton up --help=engine\` | the flags of one group |
| \`baton up --help=max-num-seqs\` | one flag, or all flags with this text in their names |
| \`baton up --help=all\` | all its flags |
`;

const CONFIGURATION =
  'Every option of the [configuration](configuration.md) is also a flag of this command.';

/** A group of flags: its title, and its flags as a table. */
type Group = readonly [title: string, table: string];

interface Described {
  readonly row: CommandRow;
  readonly command: Command;
  readonly groups: readonly Group[];
  /** It has the options of the configuration. */
  readonly isConfigured: boolean;
}

type IsShared = (group: Group) => boolean;

/** docs/cli.md: one section per command, then the groups of flags that several commands have. */
export async function commandLinePage(): Promise<string> {
  const described = await Promise.all(COMMANDS.map(describe));
  const all = described.flatMap(({ groups }) => groups);
  const isShared: IsShared = ([title, table]) =>
    title !== OWN_GROUP && all.filter((group) => group[1] === table).length > 1;
  const sections = described.map((each) => section(each, isShared));
  const shared = [...new Map(all.filter(isShared))];
  const common = shared.map(([title, table]) => `\n## ${headingOf(title)}\n\n${table}\n`);
  return `${INTRODUCTION}${sections.join('')}${common.join('')}`;
}

async function describe(row: CommandRow): Promise<Described> {
  const command = new Command(row.name);
  await row.complete(command, () => undefined);
  const options = visibleOptions(command);
  const own = options.filter((option) => option.long !== '--help' && !isOfConfiguration(option));
  const groups = [...new Set(own.map(titleOf))].map((title): Group => {
    return [title, flagTable(own.filter((option) => titleOf(option) === title))];
  });
  return { row, command, groups, isConfigured: options.some(isOfConfiguration) };
}

/** The options of the configuration have a page of their own. */
function isOfConfiguration(option: Option): boolean {
  const isInSection = SECTIONS.some(({ title }) => title === titleOf(option));
  return isInSection && isConfigKey(option.attributeName());
}

function flagTable(options: readonly Option[]): string {
  const help = new Help();
  const rows = options.map((option) => [
    `\`${help.optionTerm(option)}\``,
    help.optionDescription(option),
  ]);
  return table(['Flag', 'Meaning'], rows);
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [titles, titles.map(() => '---'), ...rows.map((cells) => cells.map(cellOf))];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Outside of code, Markdown reads `<` and `*` as its own. */
function cellOf(text: string): string {
  const cell = text.replaceAll('|', '\\|');
  return cell.startsWith('`') ? cell : cell.replaceAll(/[<*]/g, '\\$&');
}

function section(described: Described, isShared: IsShared): string {
  const { row, command, groups, isConfigured } = described;
  const own = groups.filter((group) => !isShared(group));
  const linked = groups
    .filter(isShared)
    .map(([title]) => `[${title}](#${topicOf(headingOf(title))})`);
  const parts = [
    `## baton ${row.name}`,
    row.description,
    `\`\`\`text\nbaton ${row.name} ${row.usage}\n\`\`\``,
    ...argumentTable(command),
    ...own.map(([title, flags]) => (own.length === 1 ? flags : `${title}:\n\n${flags}`)),
    ...(linked.length === 0 ? [] : [`Flags that other commands also have: ${linked.join(', ')}.`]),
    ...(isConfigured ? [CONFIGURATION] : []),
    ...remarksOf(command),
  ];
  return `\n${parts.join('\n\n')}\n`;
}

function headingOf(title: string): string {
  return `Flags of ${title.toLowerCase()}`;
}

function argumentTable({ registeredArguments }: Command): string[] {
  if (registeredArguments.length === 0) return [];
  const help = new Help();
  const rows = registeredArguments.map((argument) => [
    `\`${help.argumentTerm(argument)}\``,
    help.argumentDescription(argument),
  ]);
  return [table(['Argument', 'Meaning'], rows)];
}

/** The texts below the flags of a help: actions, examples, exit codes. */
function remarksOf(command: Command): string[] {
  let text = '';
  command.configureHelp({ formatHelp: () => '' });
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text
    .replace(OPTIONS_FOOTER, '')
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => (/^\w+:\n/.test(part) ? part.replace('\n', '\n\n```text\n') + '\n```' : part));
}
