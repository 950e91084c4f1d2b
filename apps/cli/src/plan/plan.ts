import { formatSlo } from '@baton/analysis';
import { formatShare } from '@baton/report';
import { shippedTracesText, splitWorkloadFlags, wantsTraceList } from '@baton/workload-source';
import { claimFolder } from '../claim-output';
import type { GivenReplayFlags } from '../replay/replay-flags';
import { writeFiles } from '../replay/result-files';
import { say } from '../say';
import { caveats } from './caveats';
import { planConsole } from './plan-console';
import { type PlanDocument, planDocument } from './plan-document';
import { documentJson, planFiles } from './plan-files';
import { type PlanFlags, readPlanFlags } from './plan-flags';
import { preparePlan, type PreparedPlan } from './prepare-plan';
import { searchSplits } from './search';
import { openTaskPool } from './task-pool';

/**
 * `baton plan`: looks for the split of GPUs that serves a workload best within an SLO, prints what
 * it found on stdout (a table, or one JSON document) and writes files when asked to. Everything
 * else that is said goes to stderr.
 */
export async function plan(given: GivenReplayFlags): Promise<void> {
  if (wantsTraceList(splitWorkloadFlags(given).workload)) {
    process.stdout.write(shippedTracesText());
    return;
  }
  const flags = readPlanFlags(given);
  claimFolder(flags.out, '--out');
  const prepared = await preparePlan(flags);
  for (const note of prepared.notes) say(note);
  const pool = openTaskPool(prepared.context, flags.threads);
  try {
    const result = await searchSplits(prepared, pool, flags.mostSimulated);
    for (const caveat of caveats(prepared, result)) say(caveat);
    await tell(planDocument(prepared, result), prepared, flags);
  } finally {
    await pool.close();
  }
}

async function tell(
  document: PlanDocument,
  prepared: PreparedPlan,
  flags: PlanFlags,
): Promise<void> {
  const { config, target } = prepared.context;
  const title = `Plan of ${document.gpus} GPUs for ${prepared.loaded.source.name}`;
  const subtitle = `${config.model}, ${config.gpu}, ${formatShare(target.attainment)} of requests within ${formatSlo(target.slo)}, seed ${config.seed}`;
  if (flags.json) process.stdout.write(documentJson(document));
  else process.stdout.write(planConsole(document, `${title}: ${subtitle}`));
  if (flags.out === undefined) return;
  const names = await writeFiles(flags.out, planFiles(document, { title, subtitle }));
  say(`wrote ${names.join(', ')} into ${flags.out}`);
}
