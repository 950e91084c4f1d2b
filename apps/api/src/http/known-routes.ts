import { nearestName } from '@baton/kernel';
import type { FastifyInstance } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import { type HttpOperation, operationOf } from './operation';

/** A route with its handler's description. */
export interface KnownRoute {
  readonly method: string;
  /** `/v1/models/*`, `/v1/responses/:id`. */
  readonly pattern: string;
  readonly operation: HttpOperation | undefined;
}

/** The order of methods in lists. */
const ORDER: readonly HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Longest path, in characters, that is compared with those of all routes: some 0.5 ms. */
const MOST_COMPARED = 64;

/** The limits of the server's own router; this router must have the same. */
export const ROUTER_OPTIONS = { maxParamLength: 4_096, ignoreTrailingSlash: false } as const;

/**
 * Every route of the server with its methods, to distinguish a wrong method from a wrong path.
 * Fastify does not report the methods of a URL, so this is a second copy of its router without
 * handlers.
 */
export class KnownRoutes {
  private readonly router = findMyWay(ROUTER_OPTIONS);
  private readonly known: KnownRoute[] = [];

  /** Records routes from now on; call it before the first route is added. */
  observe(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', (route) => {
      for (const method of [route.method].flat()) {
        const operation = operationOf(route);
        this.router.on(method as HTTPMethod, route.url, () => undefined, operation);
        this.known.push({ method, pattern: route.url, operation });
      }
    });
  }

  /** The methods of this URL; undefined when no route matches it. */
  methodsOf(url: string): readonly string[] | undefined {
    const found = ORDER.filter((method) => this.leadsSomewhere(method, url));
    return found.length === 0 ? undefined : found;
  }

  /** A served path that the client probably means by one that leads nowhere; undefined: none. */
  nearestTo(path: string): string | undefined {
    const plain = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
    const single = plain.replace(/^(\/v1)+(?=\/|$)/, '');
    const candidates = [plain, `/v1${single}`, single];
    const served = candidates.find((other) => other !== path && this.methodsOf(other));
    if (served !== undefined) return served;
    if (plain.length > MOST_COMPARED) return undefined;
    const patterns = this.known.map(({ pattern }) => pattern).filter((each) => !/[:*]/.test(each));
    return nearestName(plain, patterns);
  }

  /** The description of the handler of this method and URL, if any. */
  operationAt(method: string, url: string): HttpOperation | undefined {
    const found = this.router.find(method as HTTPMethod, url);
    return (found?.store ?? undefined) as HttpOperation | undefined;
  }

  /** All routes, one entry per route and method, without HEAD. */
  list(): readonly KnownRoute[] {
    return this.known.filter(({ method }) => method !== 'HEAD');
  }

  /** Nest's adapter serves no route with an empty parameter, except for a star. */
  private leadsSomewhere(method: HTTPMethod, url: string): boolean {
    const found = this.router.find(method, url);
    const params = Object.entries(found?.params ?? {});
    return found !== null && params.every(([name, value]) => value !== '' || name === '*');
  }
}
