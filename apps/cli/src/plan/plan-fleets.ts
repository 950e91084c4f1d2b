import { formatSlo } from '@baton/analysis';
import {
  type FleetsDocument,
  fleetsConsole,
  fleetsCsv,
  fleetsDocument,
  fleetsReport,
  localPool,
  overridesOf,
  prepareFleets,
  type PreparedFleets,
  searchFleets,
} from '@baton/planner';
import { formatShare, htmlReport } from '@baton/report';
import { claimFolder } from '../claim-output';
import { withProgress } from '../progress';
import { type NamedContent, writeFiles } from '../replay/result-files';
import { say } from '../say';
import { startCommand } from './commands';
import type { FleetFlags } from './plan-flags';
import { plannerPool } from './planner-pool';
import { preparedFrom } from './prepared-from';

/**
 * `baton plan --space`: searches for the fleets of a space that serve a workload best, prints the
 * result on stdout and writes files when a flag sets a folder.
 */
export async function planFleets(flags: FleetFlags): Promise<void> {
  claimFolder(flags.out, '--out');
  const prepared = await preparedFrom(flags, prepareFleets);
  for (const note of prepared.notes) say(note);
  const open = await plannerPool(prepared.requested, flags.planners);
  const openPool = () => open?.(prepared.context) ?? localPool(prepared, flags.threads);
  const found = await searchFleets(prepared, { openPool }, withProgress);
  const document = fleetsDocument(prepared, found, ({ fleet }) =>
    startCommand({ ...prepared.requested, ...overridesOf(fleet) }),
  );
  await printResult(document, prepared, flags);
}

async function printResult(
  document: FleetsDocument,
  { context, loaded }: PreparedFleets,
  flags: FleetFlags,
): Promise<void> {
  const { config, target } = context;
  const title = `Fleets for ${loaded.source.name}`;
  const subtitle =
    `${config.model}, ${formatShare(target.attainment)} of requests within ` +
    `${formatSlo(target.slo)}, seed ${config.seed}`;
  if (flags.json) process.stdout.write(jsonOf(document));
  else process.stdout.write(fleetsConsole(document, `${title}: ${subtitle}`, flags.wide));
  if (flags.out === undefined) return;
  const names = await writeFiles(flags.out, renderFiles(document, { title, subtitle }));
  say(`wrote ${names.join(', ')} into ${flags.out}`);
}

function jsonOf(document: FleetsDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

async function* renderFiles(
  document: FleetsDocument,
  heading: { readonly title: string; readonly subtitle: string },
): AsyncGenerator<NamedContent> {
  yield ['plan.json', jsonOf(document)];
  yield ['plan.csv', fleetsCsv(document)];
  yield await Promise.resolve(['plan.html', htmlReport(fleetsReport(document, heading))] as const);
}
