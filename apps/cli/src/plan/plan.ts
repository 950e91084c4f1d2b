import { formatSlo } from '@baton/analysis';
import {
  type PlanResult,
  planConsole,
  type PlanDocument,
  planDocument,
  preparePlan,
  type PreparedPlan,
  searchPlan,
} from '@baton/planner';
import { formatShare } from '@baton/report';
import { shippedTracesText, splitWorkloadFlags, wantsTraceList } from '@baton/replay';
import { claimFolder } from '../claim-output';
import { withProgress } from '../progress';
import type { GivenReplayFlags } from '../replay/replay-flags';
import { writeFiles } from '../replay/result-files';
import { say } from '../say';
import { replayCommand, upCommand } from './commands';
import { documentJson, planFiles } from './plan-files';
import { plannerPool } from './planner-pool';
import { preparedFrom } from './prepared-from';
import { type PlanFlags, readFleetFlags, readPlanFlags } from './plan-flags';

/**
 * `baton plan`: searches for the split of GPUs that serves a workload best within an SLO. The
 * result goes to stdout (a table, or one JSON document) and, when a flag sets a folder, into files.
 * All other output goes to stderr.
 */
export async function plan(given: GivenReplayFlags): Promise<void> {
  if (wantsTraceList(splitWorkloadFlags(given).workload)) {
    process.stdout.write(shippedTracesText());
    return;
  }
  if (given['autoscalers'] !== undefined) {
    const { planAutoscalers } = await import('./autoscalers/plan-autoscalers');
    await planAutoscalers(given);
    return;
  }
  const fleet = readFleetFlags(given);
  if (fleet !== undefined) {
    const { planFleets } = await import('./plan-fleets');
    await planFleets(fleet);
    return;
  }
  const flags = readPlanFlags(given);
  claimFolder(flags.out, '--out');
  const prepared = await preparedFrom(flags, preparePlan);
  for (const note of prepared.notes) say(note);
  const openPool = await plannerPool(prepared.requested, flags.planners);
  const result = await searchPlan(prepared, { ...flags, openPool }, withProgress);
  await printResult(documentOf(prepared, result), prepared, flags);
}

function documentOf(prepared: PreparedPlan, result: PlanResult): PlanDocument {
  return planDocument(prepared, result, {
    command: upCommand(prepared, result.winner),
    replay_command: replayCommand(prepared, result.winner) ?? null,
  });
}

async function printResult(
  document: PlanDocument,
  prepared: PreparedPlan,
  flags: PlanFlags,
): Promise<void> {
  const { config, target } = prepared.context;
  const gpus = document.gpus === 1 ? '1 GPU' : `${document.gpus} GPUs`;
  const title = `Plan of ${gpus} for ${prepared.loaded.source.name}`;
  const subtitle =
    `${config.model}, ${config.gpu}, ${formatShare(target.attainment)} of ` +
    'requests within ' +
    `${formatSlo(target.slo)}, seed ${config.seed}`;
  if (flags.json) process.stdout.write(documentJson(document));
  else process.stdout.write(planConsole(document, `${title}: ${subtitle}`, flags.wide));
  if (flags.out === undefined) return;
  const names = await writeFiles(flags.out, planFiles(document, { title, subtitle }));
  say(`wrote ${names.join(', ')} into ${flags.out}`);
}
