import { changeableValues, LiveSettings, type Settings, UsageError } from '@baton/config';
import { BatonError } from '@baton/contract';
import { objectBody } from '@baton/openai';
import { Body, Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { Describe } from '../../http/operation';
import { brokerError } from '../../http/broker-error';
import { Config } from '../../tokens';
import { ReadPipe } from '../../http/read-pipe';

type Fields = ReturnType<typeof objectBody>;

/** `settings` change when you send some of them back; `fixed` holds until the cluster restarts. */
export interface SettingsView {
  readonly object: 'config';
  /** 0 at the start of the cluster; each change adds 1. */
  readonly revision: number;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly fixed: Readonly<Record<string, unknown>>;
}

/** Settings that change while the cluster runs. Served only with `enable_admin`. */
@Controller('admin/config')
export class SettingsController {
  constructor(
    @Inject(LiveSettings) private readonly settings: LiveSettings,
    private readonly config: Config,
  ) {}

  @Describe('Administration', 'Show the settings', { result: 'Settings' })
  @Get()
  show(): SettingsView {
    return this.toView(this.settings.current);
  }

  @Describe('Administration', 'Change settings while the cluster runs', {
    body: 'Object',
    example: { failure_injection_rate: 0 },
    result: 'Settings',
    detail: 'A refused change leaves every setting as it is.',
  })
  @Post()
  @HttpCode(200)
  async change(@Body(new ReadPipe(objectBody)) fields: Fields): Promise<SettingsView> {
    try {
      return this.toView(await this.settings.change(fields));
    } catch (error) {
      if (error instanceof UsageError) throw new BatonError('invalid_value', error.message);
      throw brokerError(error);
    }
  }

  private toView({ revision, config }: Settings): SettingsView {
    const { topology, model, dialect, speedup, seed, stepTime } = this.config;
    return {
      object: 'config',
      revision,
      settings: changeableValues(config),
      fixed: { topology, model, dialect, speedup, seed, step_time: stepTime },
    };
  }
}
