// `node deploy/grafana/build.mjs` writes the boards; with `--print` it prints them, as one JSON
// object by file name.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { healthBoard } from './health-board.mjs';
import { servingBoard } from './serving-board.mjs';

const FOLDER = new URL('dashboards/', import.meta.url);
const boards = { 'baton-pd.json': servingBoard(), 'baton-health.json': healthBoard() };

const files = {};
for (const [name, board] of Object.entries(boards)) {
  files[name] = await format(JSON.stringify(board), { parser: 'json', printWidth: 100 });
}

if (process.argv.includes('--print')) process.stdout.write(JSON.stringify(files));
else {
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(fileURLToPath(new URL(name, FOLDER)), text);
  }
}
