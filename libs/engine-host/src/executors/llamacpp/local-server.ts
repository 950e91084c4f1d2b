import { type BatonConfig, optionalFolder, requireFrom, UsageError } from '@baton/config';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';

/** The path of the package in a checkout. An installed Baton does not have it. */
const PACKAGE = join('packages', 'llamacpp');
const RANDOM_MODEL = join('.baton', 'random-29m.gguf');
const NATIVE_PART = join('node_modules', 'node-llama-cpp', 'package.json');

/** One server of the package, in this process. */
export interface LocalServer {
  /** `http://host:port`. */
  readonly url: string;
  /** Name of the server in `kv_transfer_params`. */
  readonly engineId: string;
  close(): Promise<void>;
}

/** Options of `startServer` in `packages/llamacpp/http/server.mjs`. */
export interface LocalServerOptions {
  readonly path: string;
  readonly servedModel: string;
  readonly host: string;
  readonly threads: number;
  readonly sequences: number;
  readonly contextTokens: number;
  readonly kvLeaseMs: number;
  readonly loadFailurePolicy: 'fail' | 'recompute';
  readonly peerFailurePolicy: 'fail' | 'recompute';
  readonly isPeer: (source: Peer) => Promise<boolean>;
  readonly log: (sentence: string) => void;
}

/** The server that has the KV of a request. */
export interface Peer {
  readonly origin: string;
  readonly engineId: string;
}

type ModelConfig = Pick<BatonConfig, 'llamacppModel' | 'upstreamKvConnector'>;

interface LlamacppPackage {
  startServer(options: LocalServerOptions): Promise<LocalServer>;
}

/**
 * Checks the requirements of an engine that computes with llama.cpp.
 *
 * @param from  folder in or above which the package is searched
 * @throws UsageError with the command that installs them
 */
export function checkLlamacpp(config: ModelConfig, from = __dirname): void {
  const folder = optionalFolder(PACKAGE, from);
  if (folder === undefined) {
    throw new UsageError(
      'executor llamacpp needs a checkout of Baton: this installation has no ' +
        `${PACKAGE.split('\\').join('/')}.`,
    );
  }
  if (!existsSync(join(folder, NATIVE_PART))) {
    throw new UsageError(
      'executor llamacpp needs the optional package: run ' +
        `\`${setupOf(folder)}\` first, which installs it.`,
    );
  }
  if (config.upstreamKvConnector !== 'nixl') {
    throw new UsageError(
      'executor llamacpp hands over as nixl does; upstream_kv_connector ' +
        `${config.upstreamKvConnector} is for vLLM-compatible servers.`,
    );
  }
  modelPath(config, folder);
}

/** @throws UsageError when something is missing, or the model cannot be loaded */
export async function startLocalServer(
  config: ModelConfig,
  options: Omit<LocalServerOptions, 'path'>,
): Promise<LocalServer> {
  checkLlamacpp(config);
  const folder = optionalFolder(PACKAGE) ?? '';
  const path = modelPath(config, folder);
  try {
    const { startServer } = requireFrom(folder, './entry.cjs') as LlamacppPackage;
    return await startServer({ ...options, path });
  } catch (error) {
    const why = error instanceof Error ? error.message || error.name : String(error);
    throw new UsageError(`executor llamacpp could not serve ${path}: ${why}`);
  }
}

/** The command as it works in the folder of this process. */
function setupOf(folder: string): string {
  return `node ${relative('', join(folder, 'setup.mjs'))}`;
}

/** @throws UsageError */
function modelPath({ llamacppModel }: Pick<BatonConfig, 'llamacppModel'>, folder: string): string {
  const path = llamacppModel ?? join(folder, RANDOM_MODEL);
  if (existsSync(path)) return path;
  throw new UsageError(
    llamacppModel === undefined
      ? `executor llamacpp has no model: name one with llamacpp_model, or run \`${setupOf(folder)}\`, ` +
          'which writes one with random weights.'
      : `llamacpp_model: there is no file ${path}.`,
  );
}
