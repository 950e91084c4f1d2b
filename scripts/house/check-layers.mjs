// Names the files that `npm run docs` would change. Fails when there is one.
import { ROOT } from '../root.mjs';
import { staleLayers } from './layers.mjs';
import { readTree } from './tree.mjs';

const stale = staleLayers(readTree(ROOT));
process.stdout.write(stale.join('\n'));
process.exitCode = stale.length === 0 ? 0 : 1;
