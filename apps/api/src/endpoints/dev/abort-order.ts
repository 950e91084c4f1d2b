import { IsArray, IsString } from 'class-validator';

/** The requests to abort; without ids, all. */
export class AbortOrder {
  @IsArray() @IsString({ each: true }) request_ids?: readonly string[] | null;
}
