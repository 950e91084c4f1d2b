import { applyDecorators, UseFilters, UseGuards } from '@nestjs/common';
import { RefusalFilter } from './refusal.filter';
import { AcceptingGuard } from './take/accepting.guard';

/** Marks handlers whose requests engines serve: a closing process refuses them; refusals count. */
export function ServedByEngines(): ClassDecorator & MethodDecorator {
  return applyDecorators(UseGuards(AcceptingGuard), UseFilters(RefusalFilter));
}
