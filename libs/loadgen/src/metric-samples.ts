const SAMPLE = /^((?:baton|vllm):\w+)\{(.*)\} (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** One sample of a metric of Baton or vLLM. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** @param page  in the text format of Prometheus */
export function samplesOf(page: string): Sample[] {
  return page.split('\n').flatMap(sampleOf);
}

/** The label values that distinguish the engines of a page. */
export function engineKeyOf({ labels }: Sample): string {
  return `${labels['engine'] ?? ''} ${labels['replica'] ?? ''}`;
}

function sampleOf(line: string): Sample[] {
  const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
  if (name === undefined) return [];
  const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [key, plain(text)]);
  return [{ name, labels: Object.fromEntries(pairs) as Sample['labels'], value: Number(value) }];
}

function plain(text: string): string {
  return text.replaceAll(/\\(.)/g, (_all, letter: string) => (letter === 'n' ? '\n' : letter));
}
