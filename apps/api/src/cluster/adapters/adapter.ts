import { isAdapter } from '@baton/config';
import { Holds } from '@baton/openai';
import { IsBoolean, IsDefined, IsNotEmpty, IsString } from 'class-validator';

/** Body of POST /v1/unload_lora_adapter. */
export class AdapterName {
  @IsDefined() @IsNotEmpty() @IsString() lora_name!: string;
}

/** Body of POST /v1/load_lora_adapter. */
export class AdapterOrder extends AdapterName {
  @Holds((path: string, { lora_name: name }: AdapterOrder) =>
    typeof name !== 'string' || isAdapter({ name, path })
      ? undefined
      : { message: 'lora_name or lora_path is not valid.' },
  )
  @IsDefined()
  @IsNotEmpty()
  @IsString()
  lora_path!: string;

  @IsBoolean() load_inplace?: boolean | null;
}
