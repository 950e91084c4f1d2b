import type { KeyValuesSection } from './sections';

type Settings = Readonly<Record<string, unknown>>;

/**
 * The settings of a run; entries of a group have its name. With `defaults`, changed options are in
 * a separate list, each with its default.
 */
export function settingsSections(
  title: string,
  settings: Settings,
  defaults?: Settings,
): KeyValuesSection[] {
  const list = { kind: 'keyValues' as const, look: 'list' as const };
  if (defaults === undefined) return [{ ...list, title, entries: entriesOf(settings) }];
  const isChanged = ([key, value]: readonly [string, unknown]): boolean =>
    settingText(value) !== settingText(defaults[key]);
  const all = Object.entries(settings);
  const rest = Object.fromEntries(all.filter((each) => !isChanged(each)));
  const changed = all.filter(isChanged).map(([key, value]) => ({
    value,
    key,
    before: key in defaults ? `default ${settingText(defaults[key])}` : undefined,
  }));
  return [
    {
      ...list,
      look: 'changed' as const,
      title: `${title}, changed`,
      entries: changed.flatMap(({ key, value, before }) =>
        entriesOf({ [key]: value }).map(([name, text]) =>
          before === undefined ? ([name, text] as const) : ([name, text, before] as const),
        ),
      ),
    },
    { ...list, title: `${title}, defaults`, entries: entriesOf(rest) },
  ];
}

function entriesOf(settings: Settings): (readonly [key: string, value: string])[] {
  return Object.entries(settings).flatMap(([key, value]) => {
    const isGroup = typeof value === 'object' && value !== null;
    const inner = isGroup ? Object.entries(value) : [['', value] as const];
    return inner.map(
      ([name, each]) => [name === '' ? key : `${key} ${name}`, settingText(each)] as const,
    );
  });
}

function settingText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'unset');
}
