import { writeFileSync } from 'node:fs';
import type { BatonConfig } from '@baton/config';
import { reasonOf } from '@baton/kernel';
import { baseUrl, claimWorkerPort } from '@baton/supervisor';

/** The variable with the path of the file; the image sets it. */
const VARIABLE = 'BATON_HEALTH_FILE';

/**
 * Writes the URL that answers whether this process, or its cluster, works; `bin/healthy` reads it.
 * Returns the configuration with the port of the URL, which a worker otherwise chooses later.
 */
export async function withHealthFile(config: BatonConfig): Promise<BatonConfig> {
  const path = process.env[VARIABLE];
  if (!path) return config;
  const { role } = config;
  const isWorker = role !== undefined && role !== 'api';
  const known = isWorker ? { ...config, workerPort: await claimWorkerPort(config) } : config;
  try {
    writeFileSync(path, `${isWorker ? workerUrl(known) : apiUrl(known)}\n`);
  } catch (error) {
    process.stderr.write(`baton: ${VARIABLE} ${path} cannot be written: ${reasonOf(error)}.\n`);
  }
  return known;
}

/** A worker serves its health without TLS. */
function workerUrl({ workerHost: host, workerPort: port }: BatonConfig): string {
  return `${baseUrl({ host, port, sslCertfile: undefined })}/health/ready`;
}

/** Whether a lone API is ready depends on the engines of other containers. */
function apiUrl(config: BatonConfig): string {
  return `${baseUrl(config)}${config.role === 'api' ? '/health' : '/health/ready'}`;
}
