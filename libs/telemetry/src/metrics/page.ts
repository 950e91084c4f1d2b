/** One family of a page in Prometheus' text format; other content is not kept. */
export interface PageFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly PageSample[];
}

export interface PageSample {
  /** With `_bucket`, `_sum` or `_count` where the family has them. */
  readonly name: string;
  /** Their values still escaped. */
  readonly labels: readonly (readonly [name: string, escaped: string])[];
  readonly value: string;
}

const HEAD = /^# (HELP|TYPE) ([A-Za-z_:][\w:]*) (.*)$/;
const SAMPLE =
  /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? ([+-]?(?:[\d.]+(?:e[+-]?\d+)?|Inf)|NaN)(?: -?\d+)?$/i;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const SUFFIX = /_(bucket|sum|count)$/;

/** The families of a page, in order. Invalid lines and samples without a family are left out. */
export function parsePage(text: string): PageFamily[] {
  const families = new Map<string, { help: string; type: string; samples: PageSample[] }>();
  for (const line of text.split('\n')) {
    const [, kind, name = '', rest = ''] = HEAD.exec(line) ?? [];
    if (kind === undefined) {
      const sample = sampleIn(line);
      const family = sample && (families.get(sample.name) ?? families.get(stem(sample.name)));
      if (sample) family?.samples.push(sample);
      continue;
    }
    const family = families.get(name) ?? { help: '', type: 'untyped', samples: [] };
    if (kind === 'HELP') family.help = rest;
    else family.type = rest;
    families.set(name, family);
  }
  return [...families].map(([name, family]) => ({ name, ...family }));
}

export function renderPage(families: Iterable<PageFamily>): string {
  return [...families]
    .map(({ name, help, type, samples }) =>
      [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples.map(renderSample), ''].join(
        '\n',
      ),
    )
    .join('');
}

/** One line, without its end. It identifies a series when its value is left out. */
export function renderSample({ name, labels, value }: PageSample): string {
  const pairs = labels.map(([key, text]) => `${key}="${text}"`);
  return pairs.length === 0 ? `${name} ${value}` : `${name}{${pairs.join(',')}} ${value}`;
}

function sampleIn(line: string): PageSample | undefined {
  const [, name, labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  if (name === undefined) return undefined;
  const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [key, text] as const);
  return { name, labels: pairs, value };
}

function stem(name: string): string {
  return name.replace(SUFFIX, '');
}
