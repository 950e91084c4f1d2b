/** One family of a page of metrics. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  /** With `_bucket`, `_sum` or `_count` where the family has them. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^([\w:]+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/**
 * Reads Prometheus' text format; throws on an invalid line, and on a sample outside of its family.
 */
export function parseExposition(text: string): Map<string, Family> {
  const families = new Map<string, Family & { samples: Sample[] }>();
  let help = '';
  let current = '';
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const head = /^# (HELP|TYPE) ([\w:]+) (.*)$/.exec(line);
    if (head?.[1] === 'HELP') help = head[3] ?? '';
    else if (head) {
      current = head[2] ?? '';
      if (families.has(current)) throw new TypeError(`twice: ${current}`);
      families.set(current, { name: current, help, type: head[3] ?? '', samples: [] });
    } else {
      const sample = sampleOf(line);
      if (!sample.name.startsWith(current)) throw new TypeError(`not of ${current}: ${line}`);
      families.get(current)?.samples.push(sample);
    }
  }
  return families;
}

/** Sum over all samples of this name that have these labels. */
export function sumOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
  if (family === undefined) throw new TypeError(`no family of ${name}`);
  return family.samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([key, v]) => sample.labels[key] === v))
    .reduce((sum, { value }) => sum + value, 0);
}

function sampleOf(line: string): Sample {
  const found = SAMPLE.exec(line);
  if (!found) throw new TypeError(`not a sample: ${line}`);
  const [, name = '', labels = '', value = ''] = found;
  const pairs = [...labels.matchAll(LABEL)].map(([, key, text]) => [key, text]);
  return {
    name,
    labels: Object.fromEntries(pairs) as Record<string, string>,
    value: Number(value),
  };
}
