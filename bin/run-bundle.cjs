// Runs a bundle (scripts/build-bundles.mjs): one file with the modules of a process, and beside it
// the code that V8 compiled of them. Both are read faster than a thousand modules.
'use strict';
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const { constants, Script } = require('node:vm');

/**
 * The script of a bundle, whose value is the function of a CommonJS module. V8 refuses compiled
 * code of another Node or with other flags, and then compiles the source again. The build writes
 * bundles in ASCII, so that a character takes one byte.
 */
function scriptOf(path) {
  return new Script(readFileSync(path, 'latin1'), {
    filename: path,
    cachedData: compiledCode(path),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
}

function compiledCode(path) {
  try {
    return readFileSync(codeFileOf(path));
  } catch {
    return undefined;
  }
}

function codeFileOf(path) {
  return `${path}.code`;
}

/** The functions that a bundle exports, by the file that each of them runs. */
function exportsOf(path, script = scriptOf(path)) {
  const module = { exports: {} };
  const run = script.runInThisContext();
  run(module.exports, createRequire(path), module, path, dirname(path));
  return module.exports;
}

/** Runs one file of a bundle, once for a process or thread. Returns what the file exports. */
function runBundle(path, file) {
  return exportsOf(path)[file]();
}

module.exports = { codeFileOf, exportsOf, runBundle, scriptOf };
