import { UsageError } from '@baton/config';
import { nearestName } from '@baton/kernel';
import { type Command, Help, type Option } from 'commander';
import { COMMON_OPTIONS } from './common-options';
import { GROUP_CONTENTS } from './groups';

/** The group of options without a heading. */
export const OWN_GROUP = 'Options';
const LIST = 'listgroup';
const ALL = 'all';

/**
 * Makes the help of `command` show `topic`, with vLLM's names: `listgroup`, a group, an option, a
 * part of the name of options, or `all`. Without a topic, a command with many options shows those
 * that most runs need, and its groups.
 *
 * @throws UsageError if nothing has the name
 */
export function chooseHelp(command: Command, topic: string | undefined): void {
  const text = helpText(command, topic);
  command.configureHelp({ formatHelp: (_command, { helpWidth }) => text(helpWidth) });
}

type Text = (width: number | undefined) => string;

function helpText(command: Command, topic: string | undefined): Text {
  const common = COMMON_OPTIONS[command.name()];
  if (topic === ALL || (topic === undefined && common === undefined)) {
    return (width) => formatted(command, {}, width);
  }
  if (topic === LIST) return (width) => `${groupList(command, width)}\n`;
  const named = topic === undefined ? [] : optionsNamed(command, topic);
  if (topic !== undefined) {
    return (width) => formatted(command, { visibleOptions: () => named }, width);
  }
  const shown = visibleOptions(command).filter(({ long }) => common?.includes(long ?? ''));
  shown.sort((a, b) => common!.indexOf(a.long!) - common!.indexOf(b.long!));
  const one = <T>(_all: T[], visible: T[]): Map<string, T[]> =>
    new Map([['Common options:', visible]]);
  return (width) =>
    `${formatted(command, { visibleOptions: () => shown, groupItems: one }, width)}\n` +
    `${groupList(command, width)}\n`;
}

/** The help as commander writes it, with changed parts. */
function formatted(command: Command, changes: Partial<Help>, width: number | undefined): string {
  const help: Help = Object.assign(new Help(), { helpWidth: width }, changes);
  return help.formatHelp(command, help);
}

function groupList(command: Command, width: number | undefined): string {
  const help: Help = Object.assign(new Help(), { helpWidth: width });
  const item = (term: string, text: string): string => help.formatItem(term, 30, text, help);
  const name = `baton ${command.name()}`;
  const groups = titlesOf(command)
    .filter((title) => title !== OWN_GROUP)
    .map((title) => item(topicOf(title), GROUP_CONTENTS[title] ?? ''));
  return [
    `All options, in ${groups.length} groups:`,
    ...groups,
    '',
    'More help:',
    item(`${name} --help=GROUP`, 'The options of one group.'),
    item(`${name} --help=NAME`, 'One option, or all with NAME in their names.'),
    item(`${name} --help=${ALL}`, 'All options.'),
  ].join('\n');
}

/** @throws UsageError if nothing has the name */
function optionsNamed(command: Command, topic: string): Option[] {
  const requested = topic.toLowerCase().replace(/^--/, '').replaceAll(/[_ ]/g, '-');
  const options = visibleOptions(command);
  const titles = titlesOf(command);
  const named = titles.filter((title) => topicOf(title) === requested);
  const begun = titles.filter((title) => topicOf(title).startsWith(`${requested}-`));
  const group = [...named, ...(begun.length === 1 ? begun : [])][0];
  if (group !== undefined) return options.filter((option) => titleOf(option) === group);
  const exact = options.filter(({ long }) => long === `--${requested}`);
  const found = exact.length > 0 ? exact : options.filter(({ long }) => long?.includes(requested));
  if (requested !== '' && found.length > 0) return found;
  const near = nearestName(requested, [...titles.map(topicOf), ...options.flatMap(nameOf)]);
  const advice = near === undefined ? '' : `; did you mean --help=${near}?`;
  throw new UsageError(
    `--help=${topic} is neither a group nor an option of baton ${command.name()}` +
      `${advice || `. Run \`baton ${command.name()} --help=${LIST}\` for the groups.`}`,
  );
}

export function visibleOptions(command: Command): Option[] {
  return new Help().visibleOptions(command);
}

/** The headings of the options of `command`, without their colons. */
function titlesOf(command: Command): string[] {
  return [...new Set(visibleOptions(command).map(titleOf))];
}

export function titleOf({ helpGroupHeading }: Option): string {
  return helpGroupHeading?.replace(/:$/, '') ?? OWN_GROUP;
}

/** `step-time` for `Step time`. */
export function topicOf(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-');
}

function nameOf({ long }: Option): string[] {
  return long === undefined ? [] : [long.slice('--'.length)];
}
