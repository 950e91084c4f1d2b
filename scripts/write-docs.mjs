// Writes the generated documents: the index of the guide, the pages of options and commands, the
// tables of imports (scripts/house/layers.json) and the picture of docs/ARCHITECTURE.md. test/tidy
// fails when one is out of date.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { guideIndex } from './guide-index.mjs';
import { writeLayers } from './house/layers.mjs';
import { readTree } from './house/tree.mjs';
import { ROOT } from './root.mjs';

const require = createRequire(import.meta.url);
const { commandLinePage } = require('../dist/apps/cli/src/help/reference-page.js');
const {
  configSchema,
  configurationPage,
  stepTimeMethodsPage,
} = require('../dist/libs/config/src/index.js');

const DOCS = new URL('../docs/', import.meta.url);
writeFileSync(new URL('README.md', DOCS), guideIndex());
writeFileSync(new URL('configuration.md', DOCS), configurationPage());
writeFileSync(new URL('baton.schema.json', DOCS), `${JSON.stringify(configSchema(), null, 2)}\n`);
writeFileSync(new URL('cli.md', DOCS), await commandLinePage());
writeFileSync(new URL('step-time-methods.md', DOCS), stepTimeMethodsPage());
writeLayers(readTree(ROOT));
