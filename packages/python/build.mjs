// `npm run build:python`: builds the wheel and prints its path.
import { pythonOnPath } from '../../scripts/debian-tools.mjs';
import { buildWheel } from './wheel.mjs';

await pythonOnPath();
process.stdout.write(`${buildWheel().wheel}\n`);
