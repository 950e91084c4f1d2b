import type { Command } from 'commander';
import type { GivenReplayFlags } from '../replay/replay-flags';
import { addPlanOptions } from './plan-flags';

/** Makes `command` the search for the best split of GPUs. Its modules are loaded when it runs. */
export function completePlan(command: Command): void {
  command.action(async (flags: GivenReplayFlags) => {
    const { plan } = await import('./plan');
    await plan(flags);
  });
  addPlanOptions(command);
}
