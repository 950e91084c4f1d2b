// Whether this Node can run Baton. Written so that a Node which is far too old reads it too.
'use strict';
const { engines } = require('../package.json');

const OLDEST = engines.node.replace('>=', '');

/** Undefined for a version that is new enough, else one sentence that says what to do. */
exports.refusal = function (version) {
  const [wanted, given] = [OLDEST, version].map((text) => text.split('.').map(Number));
  if (given[0] > wanted[0] || (given[0] === wanted[0] && given[1] >= wanted[1])) return undefined;
  return `Baton needs Node ${OLDEST} or newer, and this is ${version}: install a newer one and try again.`;
};
