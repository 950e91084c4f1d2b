// Base images: pulled where a registry answers, else made from Debian's packages and npm's copy of
// Node, under the names in the Dockerfile and the compose file.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { demand, execute } from './shell.mjs';

const NODE_MAJOR = 24;
export const NODE = `node:${NODE_MAJOR}-slim`;
export const REDIS = 'redis:7-alpine';
export const PROMETHEUS = 'prom/prometheus:v2.55.1';
const DEBIAN = 'baton-test-debian';
const RELEASE = 'bookworm';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

const clean = 'rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb';
const install = (name) =>
  `apt-get update && apt-get install -y --no-install-recommends ${name} && ${clean}`;

/** As in the official images: a user node, npm beside Node, the server as a user of its own. */
const RECIPES = {
  [NODE]: `FROM ${DEBIAN}
COPY . /
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && useradd --create-home --uid 1000 node
ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}
CMD ["node"]
`,
  [REDIS]: `FROM ${DEBIAN}
RUN ${install('redis-server')}
USER redis
WORKDIR /var/lib/redis
CMD ["redis-server"]
`,
  [PROMETHEUS]: `FROM ${DEBIAN}
RUN ${install('prometheus wget')} && mkdir /prometheus && chown nobody /prometheus
USER nobody
ENTRYPOINT ["/usr/bin/prometheus"]
`,
};

/** @returns the names of the images that were built */
export async function provideImages(env, say) {
  const missing = [];
  for (const image of Object.keys(RECIPES)) {
    if (!(await isThere(image, env)) && !(await isPulled(image, env))) missing.push(image);
  }
  if (missing.length === 0) return missing;
  const folder = mkdtempSync(join(tmpdir(), 'baton-images-'));
  try {
    if (!(await isThere(DEBIAN, env))) await importDebian(join(folder, 'debian'), env, say);
    for (const image of missing) await make(image, join(folder, image), env, say);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return missing;
}

export async function isThere(image, env) {
  return (await execute(['docker', 'image', 'inspect', image], { env })).code === 0;
}

async function isPulled(image, env) {
  return (await execute(['docker', 'pull', image], { env })).code === 0;
}

async function importDebian(folder, env, say) {
  say(`${DEBIAN}: debootstrap ${RELEASE}`);
  const variant = ['--variant=minbase', '--include=ca-certificates'];
  await demand(['debootstrap', ...variant, RELEASE, folder], { env, deadlineMs: 1_800_000 });
  await execute(['sh', '-c', `${clean.replaceAll(' /', ` ${folder}/`)}`]);
  const words = `tar -C "${folder}" -c . | docker import - ${DEBIAN}`;
  await demand(['sh', '-c', words], { env });
}

async function make(image, context, env, say) {
  say(`${image}: made of ${DEBIAN}`);
  mkdirSync(context, { recursive: true });
  if (image === NODE) await provideNode(context, env);
  const recipe = `${context}.Dockerfile`;
  writeFileSync(recipe, RECIPES[image]);
  await demand(['docker', 'build', '--tag', image, '--file', recipe, context], { env });
}

/** Node of the image's version, this Node's npm, and the certificates that this machine trusts. */
async function provideNode(context, env) {
  const npm = npmFolder();
  const local = join(context, 'usr', 'local');
  mkdirSync(local, { recursive: true });
  await fetchNode(local, env);
  cpSync(npm, join(local, 'lib', 'node_modules', 'npm'), { recursive: true });
  if (!existsSync(CERTIFICATES)) return;
  mkdirSync(join(context, dirname(CERTIFICATES)), { recursive: true });
  copyFileSync(CERTIFICATES, join(context, CERTIFICATES));
}

/** npm carries each Node as a package, with the program at `bin/node`. */
async function fetchNode(local, env) {
  const name = `node-linux-${process.arch}@${NODE_MAJOR}`;
  await demand(['npm', 'pack', '--silent', '--pack-destination', local, name], { env });
  const archive = join(
    local,
    readdirSync(local).find((file) => file.endsWith('.tgz')),
  );
  const words = ['tar', '-xzf', archive, '-C', local, '--strip-components=1', 'package/bin/node'];
  await demand(words, { env });
  rmSync(archive);
}

function npmFolder() {
  const run = process.env.npm_execpath;
  const beside = join(dirname(dirname(process.execPath)), 'lib', 'node_modules', 'npm');
  const found = [beside, run && dirname(dirname(run))].find((each) => each && existsSync(each));
  if (found === undefined)
    throw new Error('This Node has no npm beside it. Run npm run test:compose.');
  return found;
}
