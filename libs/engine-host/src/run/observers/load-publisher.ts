import { type BatonConfig, optionalFolder, requireFrom, UsageError } from '@baton/config';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { KvEventPublisher, PublisherOptions } from './kv-event';

const PACKAGE = join('packages', 'kv-events');

interface KvEventsPackage {
  readonly KvEventPublisher: new (options: PublisherOptions) => KvEventPublisher;
}

/**
 * Derives the endpoint of an engine from the configured one, as vLLM derives it from that of rank
 * 0.
 */
export function endpointOf(endpoint: string, engine: number): string {
  return endpoint.replace(/:(\d+)$/, (_port, first: string) => `:${Number(first) + engine}`);
}

/**
 * Makes publishers for the engines of one process, or undefined when no events are configured.
 *
 * @throws UsageError when the package is not installed
 */
export function publishers(
  config: BatonConfig,
  facts: { readonly model: string; readonly blockSize: number },
): ((engine: number) => KvEventPublisher) | undefined {
  const { kvEventsEndpoint, kvEventsReplayEndpoint, kvEventsTopic, kvEventsFormat } = config;
  if (kvEventsEndpoint === undefined) return undefined;
  const { KvEventPublisher } = load();
  return (engine) =>
    new KvEventPublisher({
      endpoint: endpointOf(kvEventsEndpoint, engine),
      ...(kvEventsReplayEndpoint === undefined
        ? {}
        : { replayEndpoint: endpointOf(kvEventsReplayEndpoint, engine) }),
      topic: (kvEventsTopic ?? '')
        .replaceAll('{engine}', String(engine))
        .replaceAll('{host}', hostname())
        .replaceAll('{model}', facts.model),
      blockSize: facts.blockSize,
      rank: 0,
      format: kvEventsFormat,
    });
}

function load(): KvEventsPackage {
  const folder = optionalFolder(PACKAGE);
  try {
    if (folder === undefined) throw new TypeError('no such folder');
    return requireFrom(folder, './publisher.cjs') as KvEventsPackage;
  } catch {
    throw new UsageError(
      `kv_events_endpoint needs the optional package: run \`npm ci --prefix ${PACKAGE}\` first, ` +
        'in a checkout of Baton.',
    );
  }
}
