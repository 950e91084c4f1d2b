import { Module } from '@nestjs/common';
import { Operator } from './operator';

/** Carries what an operator asks to every engine and API process. */
@Module({ providers: [Operator], exports: [Operator] })
export class OperatorModule {}
