import type { FastifyInstance } from 'fastify';

interface Pattern {
  readonly path: string;
  readonly matches: RegExp;
  readonly methods: Set<string>;
}

/** The order in which methods are told. */
const ORDER = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Every route of the server with its methods, as the framework heard of it: what tells a wrong method from a wrong path. */
export class KnownRoutes {
  private readonly patterns = new Map<string, Pattern>();

  /** Listens from now on; call it before the first route is there. */
  observe(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) this.add(one, url);
    });
  }

  /** The methods that this URL takes; undefined when nothing is served there. */
  methodsOf(url: string): readonly string[] | undefined {
    const path = decoded(url.split('?', 1)[0] ?? url);
    const found = [...this.patterns.values()].filter(({ matches }) => matches.test(path));
    if (found.length === 0) return undefined;
    return ORDER.filter((method) => found.some(({ methods }) => methods.has(method)));
  }

  /** `GET /v1/models/*`, one per route and method, without HEAD. */
  list(): readonly string[] {
    return [...this.patterns.values()].flatMap(({ path, methods }) =>
      [...methods].filter((method) => method !== 'HEAD').map((method) => `${method} ${path}`),
    );
  }

  private add(method: string, path: string): void {
    const known = this.patterns.get(path);
    if (known) known.methods.add(method);
    else this.patterns.set(path, { path, matches: regexOf(path), methods: new Set([method]) });
  }
}

/** `:name` stands for one segment, a star for whatever follows. */
function regexOf(path: string): RegExp {
  const escaped = path.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/:\w+/g, '[^/]+').replace(/\*/g, '.*')}$`);
}

function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
