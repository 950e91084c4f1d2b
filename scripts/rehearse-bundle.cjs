// Runs a file of a bundle to its end and keeps the code that V8 compiled for it, with that of
// earlier runs: `node rehearse-bundle.cjs <bundle> <file> [argument ...]`.
'use strict';
const { writeFileSync } = require('node:fs');
const { codeFileOf, exportsOf, scriptOf } = require('../bin/run-bundle.cjs');

const [path, file] = process.argv.splice(2, 2);
const script = scriptOf(path);
process.once('SIGTERM', () => process.exit());
process.once('exit', () => writeFileSync(codeFileOf(path), script.createCachedData()));
exportsOf(path, script)[file]();
