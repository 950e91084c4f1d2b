import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { contextOf, type Tenant } from '../request-context';

/** The name of a stored object. No other tenant finds the object under its id. */
export interface Owned {
  readonly owner: Tenant;
  readonly id: string;
}

/** Binds the tenant of the request. */
export const ByTenant = createParamDecorator((_none: unknown, context: ExecutionContext): Tenant =>
  tenantOf(requestOf(context)),
);

/** Binds the parameter `id` of the path as the name of an object of the request's tenant. */
export const OwnedId = createParamDecorator((_none: unknown, context: ExecutionContext): Owned => {
  const request = requestOf(context);
  const { id = '' } = request.params as { readonly id?: string };
  return { owner: tenantOf(request), id };
});

export function tenantOf({ raw }: FastifyRequest): Tenant {
  return contextOf(raw).tenant;
}

function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}
