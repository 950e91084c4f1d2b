import type { Command } from 'commander';
import { addReplayOptions, type GivenReplayFlags } from './replay-flags';

/**
 * Makes `command` the replay of a workload in virtual time. What it needs to run is loaded when it
 * runs.
 */
export function addReplayCommand(command: Command): void {
  command
    .description('Replay a trace or a made-up workload on a simulated cluster, in virtual time.')
    .action(async (flags: GivenReplayFlags) => {
      const { replay } = await import('./replay');
      await replay(flags);
    });
  addReplayOptions(command);
}
