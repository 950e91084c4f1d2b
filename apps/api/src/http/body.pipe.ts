import { type BodyClass, checkedBody } from '@baton/openai';
import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { Config } from '../tokens';
import { LargeBody } from './body/large-body';

/**
 * Makes a body an object of the class that the handler declares, checked by the decorators of that
 * class. A long body is left to a thread, which checks it in the same way.
 *
 * Nest's own `ValidationPipe` would delete names such as `constructor` from the schemas of tools.
 */
@Injectable()
export class BodyPipe implements PipeTransform {
  constructor(private readonly config: Config) {}

  /** @throws BatonError for the first fault of a body */
  transform(body: unknown, { metatype }: ArgumentMetadata): unknown {
    if (body instanceof LargeBody) return body;
    const { dialect, acceptUnknownFields: acceptsUnknownFields } = this.config;
    return checkedBody(metatype as BodyClass, body, { dialect, acceptsUnknownFields });
  }
}
