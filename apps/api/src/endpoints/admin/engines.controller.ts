import type { Stage } from '@baton/contract';
import { LiveMembership } from '@baton/worker';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { Describe } from '../../http/operation';
import { brokerError } from '../../http/broker-error';
import { ReadPipe } from '../../http/read-pipe';
import { type JoinOrder, joinOrderOf, roleOf } from './admin-body';
import { type ListedEngine, engineEntry } from './engine-list';

/** The order has begun: 202. The list of engines shows its progress. */
const BEGUN = 202;

/**
 * Lists the engines of the cluster and takes orders that change it. Served only with
 * `enable_admin`.
 */
@Controller('admin/engines')
export class EnginesController {
  constructor(@Inject(LiveMembership) private readonly membership: LiveMembership) {}

  @Describe('Administration', 'List the engines')
  @Get()
  async list(): Promise<{ object: 'list'; data: ListedEngine[] }> {
    const engines = await served(this.membership.engines());
    return { object: 'list', data: engines.map(engineEntry) };
  }

  @Describe('Administration', 'Let engines join', { body: 'Object' })
  @Post()
  @HttpCode(BEGUN)
  async join(
    @Body(new ReadPipe(joinOrderOf)) { role, count }: JoinOrder,
  ): Promise<{ role: string; joining: number }> {
    await served(this.membership.join(role, count));
    return { role, joining: count };
  }

  /** Engines that the list already shows leave by their ids. */
  @Describe('Administration', 'Cancel what has not joined yet')
  @Delete()
  async cancel(): Promise<{ cancelled: number }> {
    return { cancelled: await served(this.membership.cancelJoins()) };
  }

  @Describe('Administration', 'Let an engine leave')
  @Delete(':id')
  @HttpCode(BEGUN)
  async leave(@Param('id') id: string): Promise<{ id: string; state: 'draining' }> {
    const { engineId } = await served(this.membership.leave(id));
    return { id: engineId, state: 'draining' };
  }

  @Describe('Administration', 'Change the role of an engine', { body: 'Object' })
  @Post(':id/role')
  @HttpCode(BEGUN)
  async changeRole(
    @Param('id') id: string,
    @Body(new ReadPipe(roleOf)) role: Stage,
  ): Promise<{ id: string; state: 'draining'; becomes: string }> {
    const { engineId } = await served(this.membership.changeRole(id, role));
    return { id: engineId, state: 'draining', becomes: role };
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
