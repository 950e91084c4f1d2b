// The reason in the output of a failed command.

const AGAIN = 'then try again.';

/** A pattern of the output, and its meaning for the user. The first match counts. */
const REASONS = [
  [/spawnSync npm ENOENT/, 'npm is not on the PATH: install it (it comes with Node).'],
  [
    /ENOSPC|EDQUOT|No space left|os error 28/,
    `the disk of the checkout or of npm’s cache is full: free 1 GB, ${AGAIN}`,
  ],
  [
    /\b(EROFS|EACCES|EPERM)\b|os error (13|30)|Read-only file system|Permission denied/,
    'a folder of the checkout, or that of npm’s cache, cannot be written: correct its owner and rights, or take a copy that can be written.',
  ],
  [
    /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/,
    `npm does not reach its registry: check the network, or npm’s settings \`registry\` and \`https-proxy\`, ${AGAIN}`,
  ],
  [
    /\bE(401|403)\b/,
    `npm’s registry refuses the request: check its credentials in .npmrc, ${AGAIN}`,
  ],
  [
    /\bEUSAGE\b/,
    'package-lock.json does not fit package.json: restore both, or run `npm install` once.',
  ],
];

/** One sentence with the remedy. The whole output when no pattern matches. */
export function reasonOf(output) {
  const known = REASONS.find(([sign]) => sign.test(output));
  if (known === undefined) return `the command failed and said:\n${output.trim()}`;
  const [sign, sentence] = known;
  const [code] = sign.exec(output) ?? [''];
  return sentence.includes(code) ? sentence : `${sentence} (${code})`;
}
