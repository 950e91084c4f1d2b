// Writes the pages that are made from code. test/tidy fails when they are out of date.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { configSchema, configurationPage } = createRequire(import.meta.url)(
  '../dist/libs/config/src/index.js',
);

const DOCS = new URL('../docs/', import.meta.url);
writeFileSync(new URL('configuration.md', DOCS), configurationPage());
writeFileSync(new URL('baton.schema.json', DOCS), `${JSON.stringify(configSchema(), null, 2)}\n`);
