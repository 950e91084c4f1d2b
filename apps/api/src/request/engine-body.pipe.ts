import type { BatonConfig } from '@baton/config';
import { type ArgumentMetadata, Inject, Injectable } from '@nestjs/common';
import { BodyPipe } from '../http/body.pipe';
import { CONFIG } from '../tokens';
import { Executions } from './executed/executions';
import { isHeavyBody } from './take/heavy-body';

/**
 * Checks a body of work for engines. One that takes long is left to a thread; one that an upstream
 * server or a recording answers keeps its own form.
 */
@Injectable()
export class EngineBodyPipe extends BodyPipe {
  private readonly isLeft: boolean;

  constructor(@Inject(CONFIG) config: BatonConfig, { answers }: Executions) {
    super(config);
    this.isLeft = answers || config.play !== undefined;
  }

  override transform(body: unknown, metadata: ArgumentMetadata): unknown {
    return this.isLeft || isHeavyBody(body) ? body : super.transform(body, metadata);
  }
}
