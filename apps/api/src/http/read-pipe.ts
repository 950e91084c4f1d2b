import type { PipeTransform } from '@nestjs/common';

/**
 * Binds a body, a query or a part of one by a function that reads it: the handler gets the
 * function's result; an error that it throws is the answer.
 */
export class ReadPipe<In, Out> implements PipeTransform<In, Out> {
  constructor(private readonly read: (given: In) => Out) {}

  transform(given: In): Out {
    return this.read(given);
  }
}
