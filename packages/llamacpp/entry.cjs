// The CommonJS entry: code compiled there turns `import()` into `require`.
'use strict';

/** @param options  see `http/server.mjs` */
exports.startServer = async (options) => {
  const { startServer } = await import('./http/server.mjs');
  return startServer(options);
};
