import type { Command } from 'commander';
import { addBenchOptions, addLoadOptions, type Given } from './bench-flags';

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

/** Makes `command` the demonstration: a cluster and the load generator in one. */
export function addDemoCommand(command: Command, finish: (exitCode: number) => void): void {
  command
    .description('Start a cluster, load it, write a report, and stop the cluster.')
    .argument('[topology]', 'engines by role (default: 2P2D)')
    .action(async (topology: string | undefined, given: Given) => {
      const { demo } = await import('./demo');
      finish(await demo(topology, given));
    });
  addLoadOptions(command);
}
