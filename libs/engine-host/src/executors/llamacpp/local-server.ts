import { type BatonConfig, optionalFolder, requireFrom, UsageError } from '@baton/config';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The path of the package in the repository. */
const PACKAGE = join('packages', 'llamacpp');
const SETUP = `node ${PACKAGE.split('\\').join('/')}/setup.mjs`;
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
 * @throws UsageError with the command that installs them
 */
export function checkLlamacpp(config: ModelConfig, folder = packageFolder()): void {
  if (folder === undefined || !existsSync(join(folder, NATIVE_PART))) {
    throw new UsageError(
      `executor llamacpp needs the optional package: run \`${SETUP}\` first, which installs it.`,
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
  const folder = packageFolder() ?? '';
  const path = modelPath(config, folder);
  try {
    const { startServer } = requireFrom(folder, './entry.cjs') as LlamacppPackage;
    return await startServer({ ...options, path });
  } catch (error) {
    const why = error instanceof Error ? error.message || error.name : String(error);
    throw new UsageError(`executor llamacpp could not serve ${path}: ${why}`);
  }
}

function packageFolder(): string | undefined {
  return optionalFolder(PACKAGE);
}

/** @throws UsageError */
function modelPath({ llamacppModel }: Pick<BatonConfig, 'llamacppModel'>, folder: string): string {
  const path = llamacppModel ?? join(folder, RANDOM_MODEL);
  if (existsSync(path)) return path;
  throw new UsageError(
    llamacppModel === undefined
      ? `executor llamacpp has no model: name one with llamacpp_model, or run \`${SETUP}\`, ` +
          'which writes one with random weights.'
      : `llamacpp_model: there is no file ${path}.`,
  );
}
