import type { Command } from 'commander';
import type { Finish } from '../commands';

const PORT = '8010';

const EXAMPLES = `
An installed package has the built guide. In a checkout the first run installs the generator
(VitePress, 130 MiB, below packages/docs-site) and builds the pages. Later runs need no network.

Examples:
  baton docs               Serve the guide on http://127.0.0.1:${PORT}
  baton docs --build       Build it again first, after a change of docs/ in a checkout`;

interface DocsFlags {
  readonly port?: string;
  readonly build?: boolean;
}

/** Makes `command` serve the guide. */
export function completeDocs(command: Command, finish: Finish): void {
  command
    .option('--port <port>', `Port of the guide on 127.0.0.1, 1 to 65535 (default: ${PORT}).`)
    .option('--build', 'Build the pages again before serving them.')
    .addHelpText('after', EXAMPLES)
    .action(async ({ port = PORT, build }: DocsFlags) => {
      const { serveDocs } = await import('./serve-docs');
      finish(await serveDocs(port, build === true));
    });
}
