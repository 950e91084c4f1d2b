// Keeps compiled code between runs, where Node can: from 22.8 on. Older ones leave it out.
'use strict';
const { enableCompileCache } = require('module');
const { join } = require('path');

/**
 * For this process and, by the environment, for those that it starts. A folder that the user chose
 * stays, as does NODE_DISABLE_COMPILE_CACHE; one that cannot be written is not used.
 */
exports.keepCompiledCode = function (env) {
  if (enableCompileCache === undefined) return;
  const folder = env.NODE_COMPILE_CACHE || folderOf(env);
  if (folder === undefined) return;
  env.NODE_COMPILE_CACHE = folder;
  enableCompileCache(folder);
};

/** Beside what else Baton keeps. Undefined without a home. */
function folderOf(env) {
  const home = env.XDG_CACHE_HOME || (env.HOME && join(env.HOME, '.cache'));
  const own = env.BATON_CACHE_DIR || (home && join(home, 'baton'));
  return own && join(own, 'compiled');
}
