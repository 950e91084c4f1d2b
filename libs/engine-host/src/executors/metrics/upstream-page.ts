import { type PageFamily, type PageSample, parsePage, renderPage } from '@baton/telemetry';

/**
 * The families of a server's page that its engine counts: those with a name space (`vllm:`), except
 * Baton's.
 */
export function engineFamilies(text: string): PageFamily[] {
  return parsePage(text).filter(
    ({ name, samples }) => /^(?!baton:)\w+:/.test(name) && samples.length > 0,
  );
}

/** The page of an engine's server, and the labels of that engine in Baton. */
export interface UpstreamPage {
  readonly labels: Readonly<Record<string, string>>;
  /** Empty while the server does not answer. */
  readonly families: readonly PageFamily[];
}

/**
 * The page with the metrics of servers in place of simulated ones. Each family appears once, with
 * its HELP and TYPE and with the samples of each engine under its labels. A server's own number of
 * an engine becomes `exported_engine` where it has several.
 *
 * @param isSimulated whether a family of this name shows simulated work
 */
export function withUpstreamPages(
  page: string,
  upstreams: readonly UpstreamPage[],
  isSimulated: (name: string) => boolean,
): string {
  const families = new Map(parsePage(page).map((family) => [family.name, family]));
  for (const { labels, families: shown } of upstreams) {
    const names = new Set(shown.map(({ name }) => name));
    for (const [name, family] of families) {
      if (!isSimulated(name) && !names.has(name)) continue;
      const samples = family.samples.filter((sample) => !hasLabels(sample, labels));
      families.set(name, { ...family, samples });
    }
  }
  for (const { labels, families: shown } of upstreams) {
    const isAlone = new Set(shown.flatMap(({ samples }) => samples.map(engineOf))).size <= 1;
    for (const family of shown) {
      const known = families.get(family.name) ?? { ...family, samples: [] };
      if (known.type !== family.type) continue;
      const samples = family.samples.map((sample) => relabelled(sample, labels, isAlone));
      families.set(family.name, { ...known, samples: [...known.samples, ...samples] });
    }
  }
  return renderPage(families.values());
}

function hasLabels(sample: PageSample, wanted: UpstreamPage['labels']): boolean {
  return Object.entries(wanted).every(([key, text]) =>
    sample.labels.some(([name, escaped]) => name === key && escaped === text),
  );
}

function engineOf({ labels }: PageSample): string | undefined {
  return labels.find(([name]) => name === 'engine')?.[1];
}

function relabelled(
  sample: PageSample,
  labels: UpstreamPage['labels'],
  isAlone: boolean,
): PageSample {
  const others = sample.labels
    .filter(([name]) => !(name in labels) || (name === 'engine' && !isAlone))
    .map(([name, text]) => [name === 'engine' ? 'exported_engine' : name, text] as const);
  return { ...sample, labels: [...Object.entries(labels), ...others] };
}
