/** The message broker. `line` is one sentence about it for the log. */
export type Broker =
  | {
      /** A server that Baton does not run. */
      readonly kind: 'url';
      readonly url: string;
      readonly line: string;
      close(): Promise<void>;
    }
  | {
      /** A private server on a unix socket that ends with this process in any case. */
      readonly kind: 'private-server';
      /** The address for `connectRedisTransport`. */
      readonly url: string;
      readonly socketPath: string;
      readonly line: string;
      close(): Promise<void>;
    }
  | {
      /** No server: every role must run in this process. */
      readonly kind: 'in-process';
      readonly line: string;
      close(): Promise<void>;
    };

export interface BrokerOptions {
  /** `REDIS_URL`. If it is set, it is used or the start fails; nothing else is tried. */
  readonly redisUrl?: string | undefined;
  /** Prefix of every key there; it must hold no keys of another program. */
  readonly redisPrefix?: string | undefined;
  /** Memory limit of a private server, in bytes. */
  readonly maxMemoryBytes?: number | undefined;
  /** True: no server is searched for; every role runs in this process. */
  readonly isInProcess?: boolean | undefined;
  /** False when a missing server must not be fetched from the distribution. */
  readonly mayInstall?: boolean | undefined;
  /** The environment to search; by default that of this process. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** Folder of an unpacked package; default `~/.cache/baton/redis`. */
  readonly cacheDirectory?: string | undefined;
}

/** The folder for a package cannot be used; the message is one sentence. */
export class CacheUnusable extends Error {
  constructor(folder: string, why: string) {
    super(
      `redis-server cannot be unpacked into ${folder} (${why}): name a folder with free space in ` +
        'XDG_CACHE_HOME, set REDIS_URL, or start with --broker in-process.',
    );
    this.name = 'CacheUnusable';
  }
}

export const DEFAULT_MAX_MEMORY_BYTES = 512 * 1024 * 1024;

/** A server program, and the environment for its shared libraries. */
export interface ServerProgram {
  readonly path: string;
  readonly libraryPath?: string;
}
