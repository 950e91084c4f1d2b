import { Body, Controller, DefaultValuePipe, Get, HttpCode, Post, Query } from '@nestjs/common';
import { BodyPipe } from '../../http/body.pipe';
import { Describe, NOTHING } from '../../http/operation';
import { ReadPipe } from '../../http/read-pipe';
import {
  type ForgetOrder,
  forgetOrderOf,
  modeOf,
  type PauseMode,
  type SleepOrder,
  sleepOrderOf,
  type SleepTag,
  tagsOf,
} from './operations-query';
import { AbortOrder } from './abort-order';
import { Operator } from './operator';
import { SleepOrders } from './sleep-orders';

/**
 * The endpoints of vLLM's development mode; served only with `enable_dev_mode`. They act on every
 * engine of the cluster.
 */
@Controller()
export class DevController {
  constructor(
    private readonly operator: Operator,
    private readonly orders: SleepOrders,
  ) {}

  /** `success` is false while requests run or KV is held, as in vLLM. */
  @Describe('Development mode', 'Clear the prefix caches of the engines', {
    result: 'CacheReset',
    query: [
      { name: 'reset_running_requests', type: 'boolean', meaning: 'Not supported.' },
      { name: 'reset_external', type: 'boolean', meaning: 'Clear host memory too.' },
    ],
  })
  @Post('reset_prefix_cache')
  @HttpCode(200)
  async resetPrefixCache(
    @Query(new ReadPipe(forgetOrderOf)) { forgetsHost }: ForgetOrder,
  ): Promise<{ success: boolean }> {
    return { success: await this.orders.resetPrefixCache(forgetsHost) };
  }

  /** Does nothing: no engine has these two caches. */
  @Describe('Development mode', 'Clear the image caches', {
    ...NOTHING,
    detail: 'No engine has one, so nothing happens.',
  })
  @Post('reset_mm_cache')
  @HttpCode(200)
  resetImages(): void {}

  @Describe('Development mode', 'Clear the encoder caches', {
    ...NOTHING,
    detail: 'No engine has one, so nothing happens.',
  })
  @Post('reset_encoder_cache')
  @HttpCode(200)
  resetEncodings(): void {}

  @Describe('Development mode', 'Put the engines to sleep', {
    detail: 'The KV caches are emptied, except with mode `keep`.',
    ...NOTHING,
    query: [
      { name: 'level', type: 'integer', meaning: 'Level of sleep, 0 to 2.' },
      { name: 'mode', type: 'string', meaning: 'Effect on requests: abort, wait or keep.' },
    ],
  })
  @Post('sleep')
  @HttpCode(200)
  async sleep(@Query(new ReadPipe(sleepOrderOf)) { mode, level }: SleepOrder): Promise<void> {
    await this.orders.sleep(mode, level);
  }

  /** Parts may wake one by one; requests resume when all parts are awake. */
  @Describe('Development mode', 'Wake the engines', {
    detail: 'Requests resume when all parts are awake.',
    ...NOTHING,
    query: [
      { name: 'tags', type: 'string', meaning: 'Part to wake: weights or kv_cache. Repeatable.' },
    ],
  })
  @Post('wake_up')
  @HttpCode(200)
  async wakeUp(@Query(new ReadPipe(tagsOf)) tags: readonly SleepTag[]): Promise<void> {
    await this.orders.wake(tags);
  }

  @Describe('Development mode', 'Show whether the engines sleep', { result: 'Asleep' })
  @Get('is_sleeping')
  isSleeping(): { is_sleeping: boolean } {
    return { is_sleeping: this.operator.isSleeping };
  }

  @Describe('Development mode', 'Pause the engines', {
    result: 'Status',
    query: [{ name: 'mode', type: 'string', meaning: 'Effect on requests: abort, wait or keep.' }],
  })
  @Post('pause')
  @HttpCode(200)
  async pause(@Query(new ReadPipe(modeOf)) mode: PauseMode): Promise<{ status: 'paused' }> {
    await this.orders.pause(mode);
    return { status: 'paused' };
  }

  @Describe('Development mode', 'Resume the engines', { result: 'Status' })
  @Post('resume')
  @HttpCode(200)
  async resume(): Promise<{ status: 'resumed' }> {
    await this.orders.resume();
    return { status: 'resumed' };
  }

  @Describe('Development mode', 'Show whether the engines are paused', { result: 'Paused' })
  @Get('is_paused')
  isPaused(): { is_paused: boolean } {
    return { is_paused: this.operator.isPaused };
  }

  @Describe('Development mode', 'Abort requests', {
    body: 'Object',
    example: { request_ids: ['chatcmpl-1'] },
    result: 'Aborted',
    detail: 'Without `request_ids` all requests end.',
  })
  @Post('abort_requests')
  @HttpCode(200)
  async abort(
    @Body(new DefaultValuePipe({}), BodyPipe) { request_ids: ids }: AbortOrder,
  ): Promise<{ status: 'aborted'; aborted: number }> {
    return { status: 'aborted', aborted: await this.operator.abort(ids?.length ? ids : undefined) };
  }
}
