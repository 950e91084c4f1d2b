// Serves the built site on 127.0.0.1: `node dist/serve-site.mjs PORT`. build.mjs bundles it with
// its packages, so that the site needs none.
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sirv from 'sirv';

const site = join(dirname(fileURLToPath(import.meta.url)), 'site');
const server = createServer(sirv(site));
server.on('error', (error) => {
  process.stderr.write(`baton: the guide cannot be served (${error.message}).\n`);
  process.exit(1);
});
server.listen(Number(process.argv[2]), '127.0.0.1');
