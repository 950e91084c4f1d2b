import { LiveMembership } from '@baton/engine-host';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { BodyPipe } from '../../http/body.pipe';
import { Describe } from '../../http/operation';
import { brokerError } from '../../http/broker-error';
import { JoinOrder, RoleOrder } from './engine-orders';
import { type ListedEngine, engineEntry } from './engine-list';

/** The order has begun: 202. The list of engines shows its progress. */
const BEGUN = 202;

interface Leaving {
  readonly id: string;
  readonly name: string;
  readonly state: 'draining';
}

/**
 * Lists the engines of the cluster and takes orders that change it. Served only with
 * `enable_admin`.
 */
@Controller('admin/engines')
export class EnginesController {
  constructor(@Inject(LiveMembership) private readonly membership: LiveMembership) {}

  @Describe('Administration', 'List the engines', { result: 'EngineList' })
  @Get()
  async list(): Promise<{ object: 'list'; data: ListedEngine[] }> {
    const engines = await served(this.membership.engines());
    return { object: 'list', data: engines.map(engineEntry) };
  }

  @Describe('Administration', 'Start engines', {
    body: 'Object',
    example: { role: 'decode', count: 1 },
    result: 'Joining',
    status: BEGUN,
    detail: 'The list of engines shows the progress.',
  })
  @Post()
  @HttpCode(BEGUN)
  async join(@Body(BodyPipe) order: JoinOrder): Promise<{ role: string; joining: number }> {
    const { role } = order;
    const count = order.count ?? 1;
    await served(this.membership.join(role, count));
    return { role, joining: count };
  }

  /** Engines that the list already shows leave by their names or ids. */
  @Describe('Administration', 'Cancel engines that have not joined yet', { result: 'Cancelled' })
  @Delete()
  async cancel(): Promise<{ cancelled: number }> {
    return { cancelled: await served(this.membership.cancelJoins()) };
  }

  @Describe('Administration', 'Remove an engine', {
    status: BEGUN,
    result: 'Leaving',
    detail: 'The engine finishes its requests first.',
  })
  @Delete(':id')
  @HttpCode(BEGUN)
  async leave(@Param('id') id: string): Promise<Leaving> {
    const { engineId, name } = await served(this.membership.leave(id));
    return { id: engineId, name, state: 'draining' };
  }

  @Describe('Administration', 'Change the role of an engine', {
    body: 'Object',
    example: { role: 'prefill' },
    result: 'Becoming',
    status: BEGUN,
    detail: 'The engine finishes its requests first.',
  })
  @Post(':id/role')
  @HttpCode(BEGUN)
  async changeRole(
    @Param('id') id: string,
    @Body(BodyPipe) { role }: RoleOrder,
  ): Promise<Leaving & { becomes: string }> {
    const { engineId, name } = await served(this.membership.changeRole(id, role));
    return { id: engineId, name, state: 'draining', becomes: role };
  }
}

/** An unavailable broker is a failure of the cluster, reported with the cluster's own error. */
async function served<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw brokerError(error);
  }
}
