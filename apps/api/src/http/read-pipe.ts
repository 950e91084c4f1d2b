import type { PipeTransform } from '@nestjs/common';

/**
 * Binds a body, a query or a part of one through a function that reads it. The handler gets the
 * function's result; an error that the function throws becomes the answer.
 */
export class ReadPipe<In, Out> implements PipeTransform<In, Out> {
  constructor(private readonly read: (given: In) => Out) {}

  transform(given: In): Out {
    return this.read(given);
  }
}
