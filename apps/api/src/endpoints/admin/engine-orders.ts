import { type Stage, STAGES } from '@baton/contract';
import { MAX_ENGINES } from '@baton/policies';
import { IsDefined, IsIn, IsInt, Max, Min } from 'class-validator';

/** The role that an engine gets. */
export class RoleOrder {
  @IsDefined() @IsIn(STAGES) role!: Stage;
}

/** The engines that join; by default one. */
export class JoinOrder extends RoleOrder {
  @IsInt() @Min(1) @Max(MAX_ENGINES) count?: number | null;
}
