// A redis-server for a command line: that of PATH, or one that Baton has unpacked.
import { createRequire } from 'node:module';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execute } from '../compose/shell.mjs';

const require = createRequire(import.meta.url);

/** @returns the first words of the command */
export async function redisProgram() {
  if ((await execute(['redis-server', '--version'])).code === 0) return ['redis-server'];
  const { resolveBroker } = require('../../dist/libs/transport/src/index.js');
  const broker = await resolveBroker({}, (line) => process.stdout.write(`      ${line}\n`));
  await broker.close();
  const [, server] = /private (\S+) \(/.exec(broker.line) ?? [];
  if (server === undefined) throw new Error(`The test needs a redis-server: ${broker.line}`);
  return ['env', `LD_LIBRARY_PATH=${librariesOf(server)}`, server];
}

/** An unpacked program needs the libraries that were unpacked with it. */
function librariesOf(server) {
  const root = dirname(dirname(dirname(server)));
  const folders = ['usr/lib', 'lib'].flatMap((base) => {
    try {
      return readdirSync(join(root, base)).map((name) => join(root, base, name));
    } catch {
      return [];
    }
  });
  return folders.join(':');
}
