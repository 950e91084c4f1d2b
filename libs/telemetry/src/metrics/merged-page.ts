import { type PageFamily, type PageSample, parsePage, renderPage, renderSample } from './page';

/** Merges the values of one series of several processes into one. */
type Merge = (left: number, right: number) => number;

const sum: Merge = (left, right) => left + right;

/** Types whose samples count, so that those of several processes add up. */
const COUNTING: ReadonlySet<string> = new Set(['counter', 'histogram', 'summary']);

/**
 * Families with a rule of their own. A gauge without one shows the cluster, so that all processes
 * have the same value and the first page's is kept.
 */
const RULES: Readonly<Record<string, Merge>> = {
  'baton:api_live_sequences': sum,
  'baton:flow_waiting_requests': sum,
  'baton:flow_under_way_requests': sum,
  process_resident_memory_bytes: sum,
  process_virtual_memory_bytes: sum,
  process_open_fds: sum,
  process_max_fds: sum,
  process_start_time_seconds: Math.min,
  'baton:api_event_loop_lag_seconds': Math.max,
  'baton:api_starved_seconds': Math.max,
  'baton:queue_age_seconds': Math.max,
  // Every process counts the same event.
  'baton:engines_lost_total': Math.max,
};

/**
 * One page of the pages of several API processes: counters and histograms are sums; gauges follow
 * their rule.
 */
export function mergePages(pages: readonly string[]): string {
  const [first = '', ...others] = pages;
  if (others.length === 0) return first;
  const merged = new Map<string, PageFamily>();
  for (const family of pages.flatMap(parsePage)) {
    const known = merged.get(family.name);
    merged.set(family.name, known === undefined ? family : mergeFamilies(known, family));
  }
  return renderPage(merged.values());
}

/** The counters of a page, which stay valid after the end of their process. */
export function countedPart(page: string): string {
  return renderPage(parsePage(page).filter(({ type }) => COUNTING.has(type)));
}

function mergeFamilies(left: PageFamily, right: PageFamily): PageFamily {
  const merge = RULES[left.name] ?? (COUNTING.has(left.type) ? sum : undefined);
  const series = new Map(left.samples.map((sample) => [seriesOf(sample), sample]));
  for (const sample of right.samples) {
    const key = seriesOf(sample);
    const known = series.get(key);
    if (known === undefined) series.set(key, sample);
    else if (merge !== undefined) series.set(key, mergeSamples(known, sample, merge));
  }
  return { ...left, samples: [...series.values()] };
}

function mergeSamples(left: PageSample, right: PageSample, merge: Merge): PageSample {
  return { ...left, value: String(merge(Number(left.value), Number(right.value))) };
}

function seriesOf(sample: PageSample): string {
  return renderSample({ ...sample, value: '' });
}
