import { BatonError } from '@baton/contract';
import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type Owned, OwnedId } from '../../http/access/tenant';
import { Describe } from '../../http/operation';
import { ReadPipe } from '../../http/read-pipe';
import { perfettoTrace } from '../../observers/timelines/perfetto-trace';
import { Timelines } from '../../observers/timelines/timelines';

type Format = 'json' | 'perfetto';

/**
 * The timeline of one request, by the id of its answer, its X-Request-Id or the internal id of a
 * sequence.
 */
@Controller('v1/requests')
export class TimelinesController {
  constructor(private readonly timelines: Timelines) {}

  @Describe('Health and metrics', 'Show the phases of a request with their times', {
    query: [{ name: 'format', type: 'string', meaning: 'json or perfetto.' }],
  })
  @Get(':id/timeline')
  async timeline(
    @OwnedId() at: Owned,
    @Query('format', new ReadPipe(formatOf)) format: Format,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    const timeline = await this.timelines.find(at);
    if (timeline === undefined) throw new BatonError('request_not_found');
    if (format !== 'perfetto') return timeline;
    void reply.header('content-type', 'application/json');
    void reply.header('content-disposition', 'attachment; filename="baton-request.trace.json"');
    return perfettoTrace(timeline);
  }
}

function formatOf(said: unknown = 'json'): Format {
  if (said === 'json' || said === 'perfetto') return said;
  throw new BatonError('invalid_value', 'format must be json or perfetto.', 'format');
}
