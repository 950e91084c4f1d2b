// The test suites by name. `npm test` runs those that need only Node and npm. Each of the others
// needs a tool, which its `install` gets first; a suite whose tool is unavailable fails.
import { changedFiles } from './changed-files.mjs';
import { chromiumOnPath, prometheusOnPath, pythonOnPath } from './debian-tools.mjs';

/** The suites of `npm test` without names. */
export const DEFAULT = ['checks', 'fast', 'laws', 'e2e', 'measured'];

/**
 * A step is a `check`, which counts as one test, a `vitest` run, or a `program`, which counts by
 * its line `N passed, N failed`, and as one test without that line. The steps of a lane run one
 * after the other, and lanes run in parallel. `install` resolves to folders for PATH, or rejects
 * with one sentence.
 */
export const SUITES = {
  checks: {
    what: 'format, types, layers, lint and known advisories',
    lanes: () => [
      eslintSteps(),
      [
        ...cachedSteps(),
        check('depcruise', DEPCRUISE),
        { ...check(process.execPath, ['scripts/advisories/check.mjs']), name: 'advisories' },
      ],
    ],
  },
  changes: {
    what: 'format, types, layers and lint of what has changed',
    lanes: () => [eslintSteps(), [...cachedSteps(), check('depcruise', [...KNOWN, ...DEPCRUISE])]],
  },
  cost: {
    what: 'CPU per replayed request over that of the control, at most 25 % above the kept ratio',
    lanes: () => [[{ ...check(process.execPath, [CPU_RATIO]), name: 'cpu ratio' }]],
  },
  fast: {
    what: 'the tests of one process that take less than about two seconds a file',
    lanes: () => [[vitest('fast')]],
  },
  laws: {
    what: 'the other tests of one process (`*.long.spec.ts`, conformance, invariants)',
    lanes: () => [[vitest('laws')]],
  },
  e2e: {
    what: 'real processes on a real Redis',
    lanes: () => [[vitest('e2e')]],
  },
  measured: {
    what: 'figures of a live cluster beside the expected ones',
    lanes: () => [[vitest('measured')]],
  },
  starvation: {
    what: 'a cluster whose processes stop for most of a minute, and which loses a worker',
    lanes: () => [[{ ...vitest('e2e', 'starvation'), env: { TEST_STARVATION: 'long' } }]],
  },
  attacks: {
    what: 'requests that try to block the event loop, beside steady streams',
    lanes: () => [[vitest('attacks')]],
  },
  validation: {
    what: 'every measured and published figure of docs/validation.md (laws have a share of them)',
    lanes: () => [[vitest('validation')]],
  },
  browser: {
    what: 'the live page and the guide in Chromium (Debian: chromium; npm)',
    install: chromiumOnPath,
    lanes: () => [[guide(), vitest('browser')]],
  },
  package: {
    what: 'the npm package, packed, installed into an empty folder, and its commands (npm)',
    lanes: () => [[vitest('package')]],
  },
  prometheus: {
    what: 'our rules and boards in promtool and Prometheus (Debian: prometheus)',
    install: prometheusOnPath,
    lanes: () => [[vitest('prometheus')]],
  },
  compose: {
    what: 'the cluster in real containers (Debian: docker.io)',
    lanes: () => [[program(process.execPath, ['test/compose/run.mjs']), vitest('compose')]],
  },
  kubernetes: {
    what: 'the manifests against the schema of Kubernetes and on a real control plane (go)',
    lanes: () => [[program(process.execPath, ['test/kubernetes/run.mjs'])]],
  },
  namespaces: {
    what: 'a search on planners in several network namespaces (root on Linux, iproute2)',
    lanes: () => [[program(process.execPath, ['test/namespaces/run.mjs'])]],
  },
  proxies: {
    what: 'proxies and routers of vLLM and SGLang in front of Baton (python3, PyPI)',
    install: pythonOnPath,
    lanes: () => [[program(process.execPath, ['test/proxies/theirs/run.mjs'])]],
  },
  clients: {
    what: 'published clients with their defaults, in both dialects (python3, PyPI)',
    install: pythonOnPath,
    lanes: () => [[program(process.execPath, ['test/clients/run.mjs'])]],
  },
  'vllm-scheduler': {
    what: "vLLM's own scheduler beside ours (python3, PyPI)",
    install: pythonOnPath,
    lanes: () => [[program(process.execPath, ['test/vllm-scheduler/run.mjs'])]],
  },
  python: {
    what: 'the Python package, built, installed and tested (python3, PyPI)',
    install: pythonOnPath,
    lanes: () => [[program(process.execPath, ['test/python/run.mjs'])]],
  },
  llamacpp: {
    what: 'a small real model (node-llama-cpp, npm)',
    lanes: () => [[program('npm', ['run', '--silent', '--prefix', 'packages/llamacpp', 'e2e'])]],
  },
};

const CPU_RATIO = 'dist/bench/replay/cpu-ratio.js';

const DEPCRUISE = [
  ...['--config', '.dependency-cruiser.cjs', '--output-type', 'err'],
  ...['apps', 'libs', 'bench', 'validation'],
];

/** TypeScript 7. The package `typescript` is 5.9, whose API scripts and typescript-eslint need. */
const TSC = 'node_modules/typescript-7/bin/tsc';

function check(command, args) {
  return { kind: 'check', command, args };
}

/**
 * What a check has found is kept, so that it looks again only at files whose content has changed.
 * A change of the tool's version or configuration discards it.
 */
const FOUND = 'node_modules/.cache/baton-checks';
/** Reads again only the imports of changed files. */
const KNOWN = ['--cache', `${FOUND}/depcruise`, '--cache-strategy', 'content'];

/** For checks that judge each file by itself. */
function cachedByContent(name) {
  return ['--cache', '--cache-strategy', 'content', '--cache-location', `${FOUND}/${name}`];
}

function incremental(name) {
  return ['--incremental', '--tsBuildInfoFile', `${FOUND}/${name}.tsbuildinfo`];
}

function cachedSteps() {
  return [
    check('prettier', ['--check', '--log-level', 'warn', ...cachedByContent('prettier'), '.']),
    { ...check(process.execPath, [TSC, '--noEmit', ...incremental('tsc')]), name: 'types' },
    {
      ...check(process.execPath, [TSC, '--noEmit', '-p', 'apps/ui', ...incremental('tsc-ui')]),
      name: 'types of apps/ui',
    },
  ];
}

/** Builds the guide outside of a test, whose time limit a busy machine would exceed. */
function guide() {
  return { ...check(process.execPath, ['packages/docs-site/build.mjs']), name: 'guide' };
}

/** A project of vitest.config.mts. */
function vitest(project, ...files) {
  return { kind: 'vitest', command: 'vitest', args: ['run', '--project', project, ...files] };
}

function program(command, args) {
  return { kind: 'program', command, args };
}

/**
 * Rules with types take minutes over the whole tree. With CI set they check all of it, elsewhere
 * only the files that the branch has changed. The other rules always check every file.
 */
function eslintSteps() {
  const strict = ['--max-warnings', '0'];
  const changed = process.env.CI ? undefined : changedFiles(/\.(ts|mts)$/);
  if (changed === undefined) return [check('eslint', [...strict, '.'])];
  const untyped = check('eslint', [...strict, ...cachedByContent('eslint'), '.']);
  const steps = [{ ...untyped, name: 'eslint without types', env: { LINT_TYPES: 'no' } }];
  if (changed.length > 0) steps.push(check('eslint', [...strict, '--no-warn-ignored', ...changed]));
  return steps;
}
