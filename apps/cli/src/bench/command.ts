import type { Command } from 'commander';
import type { Finish } from '../commands';
import { addBenchOptions, addLoadOptions, type Given } from './bench-flags';

const EXIT_CODES = `
Exit codes: 0 done; 1 interrupted, no request completed, or no server answers; 2 wrong usage; 3
some figures are void, because the load or the simulated steps were late.`;

/** Makes `command` the load generator. Its modules are loaded when it runs. */
export function completeBench(command: Command, finish: Finish): void {
  command.action(async (given: Given) => {
    const { bench } = await import('./bench');
    finish(await bench(given));
  });
  command.addHelpText('after', EXIT_CODES);
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
  command.addHelpText('after', EXIT_CODES);
  addLoadOptions(command);
}
