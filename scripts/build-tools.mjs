// Prints the development packages that `npm run build` needs, in the versions of package.json: an
// image is built without the others.
import { readFileSync } from 'node:fs';

const TOOLS = ['@swc/cli', '@swc/core', 'rolldown', 'vite'];
const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

process.stdout.write(`${TOOLS.map((name) => `${name}@${devDependencies[name]}`).join(' ')}\n`);
