/** The files that state Baton's version beside package.json; each pattern matches it alone. */
export const STATED_AT = {
  'libs/kernel/src/version.ts': /(?<=VERSION = ')[^']+/,
  'packages/python/pyproject.toml': /(?<=^version = ")[^"]+/m,
  'deploy/docker/Dockerfile': /(?<=org\.opencontainers\.image\.version=")[^"]+/,
  'deploy/k8s/components/image/kustomization.yaml': /(?<=newTag: )\S+/,
};
