// The programs of a Kubernetes control plane, built from Go modules and kept in the cache folder.
// `go.mod` pins their versions, `go.sum` the content of every module.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { demand } from '../../compose/shell.mjs';

const SOURCE = fileURLToPath(new URL('.', import.meta.url));
const PACKAGES = [
  './etcd',
  'k8s.io/kubernetes/cmd/kube-apiserver',
  'k8s.io/kubernetes/cmd/kube-controller-manager',
  'k8s.io/kubernetes/cmd/kubectl',
];
/** The first build compiles about 2,000 packages. */
const BUILD_MS = 5_400_000;

/** @returns the folder with the programs, each named as its package */
export async function controlPlanePrograms() {
  const pinned = readFileSync(join(SOURCE, 'go.sum'));
  const version = createHash('sha256').update(pinned).digest('hex').slice(0, 12);
  const folder = join(homedir(), '.cache', 'baton', 'kubernetes', `control-plane-${version}`);
  if (PACKAGES.every((each) => existsSync(join(folder, nameOf(each))))) return folder;
  process.stdout.write('      building etcd, kube-apiserver, kube-controller-manager and kubectl:');
  process.stdout.write(' 20 minutes or more on two cores, once\n');
  mkdirSync(folder, { recursive: true });
  // The checksums are in go.sum, so that no other machine is needed for them.
  const env = { ...process.env, GOFLAGS: '-mod=readonly', GONOSUMDB: '*', GOWORK: 'off' };
  await demand(['go', 'build', '-o', `${folder}/`, ...PACKAGES], {
    cwd: SOURCE,
    env,
    deadlineMs: BUILD_MS,
  });
  return folder;
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('/') + 1);
}
