// Runs vLLM's own scheduler beside libs/engine over random workloads and compares every step; with
// the newest vLLM, compares the families of metrics as well.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installPackages, unpackSource } from '../../scripts/pypi.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const HERE = join(ROOT, 'test', 'vllm-scheduler');
const CACHE = join(ROOT, 'node_modules', '.cache', 'vllm-scheduler');
const PATHS = ['vllm/v1', 'vllm/utils', 'vllm/sampling_params.py'];
const SHA256 = {
  '0.33.0': 'f4c33c2503d52bb411146afa9618a4f48bed68912f617e6803ac8d76e4c74112',
  '0.19.1': '9fb88ce6b50991eba41d183584f65f51d7f6015d86a42cdabf79c1c8bd5d66fa',
};
const [NEWEST] = Object.keys(SHA256);

/** By `--scheduler`. */
const SCHEDULERS = {
  all: ['Scheduler', 'AsyncScheduler', 'pipeline stages', 'asynchronous stages'],
  sync: ['Scheduler'],
  async: ['AsyncScheduler'],
  pipeline: ['pipeline stages'],
  'async-pipeline': ['asynchronous stages'],
};

const HELP = `npm run test:vllm-scheduler -- [--scheduler KIND] [--version V] [--workloads N] [--from SEED]

Fetches vLLM's source from PyPI (needs python3, venv and tar; 50 MB, kept in node_modules/.cache), drives its
schedulers and libs/engine over the same random workloads and compares what every step does. What vLLM does is kept
there as well, so a run that was cut short goes on where it was. For the newest version it also compares the families
of metrics in vllm/v1/metrics/loggers.py with the page of metrics. Exit code: 0 all agree, 1 one does not.

  --scheduler KIND  sync: Scheduler; async: AsyncScheduler, with two batches in flight;
                    pipeline: Scheduler, with 2 to 4 pipeline stages;
                    async-pipeline: AsyncScheduler with such stages; default all
  --version V       ${Object.keys(SHA256).join(', ')}; default ${NEWEST}
  --workloads N     of each scheduler; default 5000
  --from SEED       the first seed; default 0
  --record          keep what vLLM does for the recorded test
`;

const { values } = parseArgs({
  options: {
    scheduler: { type: 'string', default: 'all' },
    version: { type: 'string', default: NEWEST },
    workloads: { type: 'string', default: '5000' },
    from: { type: 'string', default: '0' },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(HELP);
else process.exitCode = await main();

async function main() {
  const sha256 = SHA256[values.version];
  if (sha256 === undefined) {
    process.stderr.write(`There is no checksum of vLLM ${values.version}.\n`);
    return 2;
  }
  const schedulers = SCHEDULERS[values.scheduler];
  if (schedulers === undefined) {
    process.stderr.write(`--scheduler is one of ${Object.keys(SCHEDULERS).join(', ')}.\n`);
    return 2;
  }
  mkdirSync(CACHE, { recursive: true });
  const venv = join(CACHE, 'venv');
  installPackages(venv, join(HERE, 'requirements.txt'));
  const asked = { project: 'vllm', version: values.version, sha256, paths: PATHS };
  const env = {
    ...process.env,
    VLLM_VERSION: values.version,
    VLLM_PYTHON: join(venv, 'bin', 'python'),
    VLLM_SOURCE: await unpackSource(CACHE, asked),
    VLLM_KEPT: join(CACHE, 'runs'),
    VLLM_SCHEDULERS: schedulers.join(),
    VLLM_WORKLOADS: values.workloads,
    VLLM_FROM: values.from,
    ...(values.record ? { VLLM_RECORD: 'yes' } : {}),
  };
  // The families of metrics are those of the newest version.
  const files = values.version === NEWEST ? [] : ['differential'];
  const args = ['run', '--config', join(HERE, 'vitest.config.mjs'), ...files];
  const vitest = join(ROOT, 'node_modules', '.bin', 'vitest');
  return spawnSync(vitest, args, { cwd: ROOT, stdio: 'inherit', env }).status ?? 1;
}
