import type { Command } from 'commander';
import type { Finish } from '../commands';
import { addConfigOptions } from '../options';
import type { UpFlags } from './up';

/** Makes `command` the start of a cluster. Its modules are loaded when it runs. */
export function completeUp(command: Command, finish: Finish): void {
  command
    .argument('[topology]', 'engines by role: 2P3D, 4A, 2P3D1A (default: 2P2D)')
    .action(async (topology: string | undefined, flags: UpFlags) => {
      const { up } = await import('./up');
      finish(await up(topology, flags));
    });
  addConfigOptions(command);
}
