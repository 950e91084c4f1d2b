import type { Command } from 'commander';
import { addBenchOptions, type Given } from './bench-flags';

/** Makes `command` the load generator. What it needs to run is loaded when it runs. */
export function addBenchCommand(command: Command, finish: (exitCode: number) => void): void {
  command
    .description('Send a workload to any OpenAI-compatible server and measure what its users see.')
    .action(async (given: Given) => {
      const { bench } = await import('./bench');
      finish(await bench(given));
    });
  addBenchOptions(command);
}
