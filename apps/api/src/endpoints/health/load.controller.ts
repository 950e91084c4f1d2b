import { Controller, Get } from '@nestjs/common';
import { Describe } from '../../http/operation';
import { ExchangeStep } from '../../request/exchange';

/** The load of this process, as vLLM reports it with `--enable-server-load-tracking`. */
@Controller()
export class LoadController {
  constructor(private readonly exchanges: ExchangeStep) {}

  @Describe('Health and metrics', 'Count the requests under way in this process', {
    result: 'Load',
  })
  @Get('load')
  load(): { server_load: number } {
    return { server_load: this.exchanges.count };
  }
}
