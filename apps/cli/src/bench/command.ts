import type { Command } from 'commander';
import type { Finish } from '../commands';
import { addBenchOptions, addLoadOptions, type Given } from './bench-flags';

/** Makes `command` the load generator. Its modules are loaded when it runs. */
export function completeBench(command: Command, finish: Finish): void {
  command.action(async (given: Given) => {
    const { bench } = await import('./bench');
    finish(await bench(given));
  });
  addBenchOptions(command);
}

/** Makes `command` the demonstration: a cluster and the load generator in one. */
export function completeDemo(command: Command, finish: Finish): void {
  command
    .argument('[topology]', 'engines by role (default: 2P2D)')
    .action(async (topology: string | undefined, given: Given) => {
      const { demo } = await import('./demo');
      finish(await demo(topology, given));
    });
  addLoadOptions(command);
}
