import { Controller, Get } from '@nestjs/common';
import { Describe } from '../../http/operation';
import { Exchanges } from '../../request/serve/exchanges';
import { ApiProcesses } from '../../processes/api-processes';

/** The load of this server, as vLLM reports it with `--enable-server-load-tracking`. */
@Controller()
export class LoadController {
  constructor(
    private readonly exchanges: Exchanges,
    private readonly apiProcesses: ApiProcesses,
  ) {
    apiProcesses.answer('load', () => this.exchanges.count);
  }

  @Describe('Health and metrics', 'Count the requests under way at this port', {
    result: 'Load',
  })
  @Get('load')
  async load(): Promise<{ server_load: number }> {
    const others = await this.apiProcesses.query('load', null);
    const load = others.reduce<number>((sum, other) => sum + Number(other), this.exchanges.count);
    return { server_load: load };
  }
}
