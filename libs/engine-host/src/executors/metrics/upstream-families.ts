import type { BatonConfig } from '@baton/config';
import type { EngineReport, Stage } from '@baton/contract';
import {
  engineLabels,
  isSimulatedFamily,
  type Labels,
  type MetricFamily,
  type MetricSample,
  parsePage,
} from '@baton/telemetry';
import { executes } from '../server/executing';

type Families = readonly MetricFamily[];

/** Whether a page shows the metrics of the server that does the work of this stage. */
export function hasServerPage(config: BatonConfig, stage: Stage): boolean {
  return config.upstreamMetricsInterval > 0 && executes(config, stage);
}

/**
 * The lists of a page with the metrics of servers in place of simulated ones, as a further list.
 * Each server's samples have the labels of its engine in Baton. A server's own number of an engine
 * becomes `exported_engine` where it has several.
 */
export function withUpstreamFamilies(
  lists: readonly Families[],
  reports: readonly EngineReport[],
  config: BatonConfig,
): readonly Families[] {
  const upstreams = reports
    .filter(({ presence }) => hasServerPage(config, presence.stage))
    .map(({ presence, page }) => ({ labels: engineLabels(presence), shown: serverFamilies(page) }));
  if (upstreams.length === 0) return lists;
  const types = new Map(lists.flat().map(({ name, type }) => [name, type]));
  const isReplaced = (name: string, sample: MetricSample): boolean =>
    upstreams.some(
      ({ labels, shown }) =>
        hasLabels(sample, labels) &&
        (isSimulatedFamily(name) || shown.some((family) => family.name === name)),
    );
  const kept = lists.map((families) =>
    families.map((family) => ({
      ...family,
      values: family.values.filter((sample) => !isReplaced(family.name, sample)),
    })),
  );
  const added = upstreams.map(({ labels, shown }) => {
    const isAlone =
      new Set(shown.flatMap(({ values }) => values.map((each) => each.labels['engine']))).size <= 1;
    return shown
      .filter(({ name, type }) => (types.get(name) ?? type) === type)
      .map((family) => ({
        ...family,
        values: family.values.map((sample) => relabelled(sample, labels, isAlone)),
      }));
  });
  return [...kept, ...added];
}

/**
 * The families of a server's page that its engine counts: those with a name space (`vllm:`), except
 * Baton's.
 */
function serverFamilies(page: string): Families {
  return parsePage(page).filter(
    ({ name, values }) => /^(?!baton:)\w+:/.test(name) && values.length > 0,
  );
}

function hasLabels(sample: MetricSample, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => sample.labels[name] === value);
}

function relabelled(sample: MetricSample, labels: Labels, isAlone: boolean): MetricSample {
  const others = Object.entries(sample.labels)
    .filter(([name]) => !(name in labels) || (name === 'engine' && !isAlone))
    .map(([name, value]) => [name === 'engine' ? 'exported_engine' : name, value]);
  return { ...sample, labels: { ...labels, ...(Object.fromEntries(others) as Labels) } };
}
