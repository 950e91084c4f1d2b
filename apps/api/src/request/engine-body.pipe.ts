import { type ArgumentMetadata, Injectable } from '@nestjs/common';
import { BodyPipe } from '../http/body.pipe';
import { Config } from '../tokens';
import { Executions } from './executed/executions';
import { isHeavyBody } from './take/heavy-body';

/**
 * Checks a body of work for engines. One that takes long is left to a thread; one that an upstream
 * server or a recording answers keeps its own form.
 */
@Injectable()
export class EngineBodyPipe extends BodyPipe {
  private readonly isLeft: boolean;

  constructor(config: Config, { answers }: Executions) {
    super(config);
    this.isLeft = answers || config.play !== undefined;
  }

  override transform(body: unknown, metadata: ArgumentMetadata): unknown {
    return this.isLeft || isHeavyBody(body) ? body : super.transform(body, metadata);
  }
}
