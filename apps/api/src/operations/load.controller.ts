import { Controller, Get } from '@nestjs/common';
import { GenerationService } from '../generation/generation.service';

/** How busy this process is, as vLLM says it with `--enable-server-load-tracking`. */
@Controller()
export class LoadController {
  constructor(private readonly generation: GenerationService) {}

  @Get('load')
  load(): { server_load: number } {
    return { server_load: this.generation.liveRequests };
  }
}
