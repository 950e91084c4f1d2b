import { Module } from '@nestjs/common';
import { Operator } from './operator';

/** Forwards the requests of operators to every engine and API process. */
@Module({ providers: [Operator], exports: [Operator] })
export class OperatorModule {}
