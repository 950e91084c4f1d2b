import type { Command } from 'commander';
import { addReplayOptions, type GivenReplayFlags } from './replay-flags';

/**
 * Makes `command` the replay of a workload in virtual time. Its modules are loaded when it runs.
 */
export function completeReplay(command: Command): void {
  command.action(async (flags: GivenReplayFlags) => {
    const { replay } = await import('./replay');
    await replay(flags);
  });
  addReplayOptions(command);
}
