import { changeableValues, configSchema } from '@baton/config';
import { BatonError } from '@baton/contract';
import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Describe } from '../../http/operation';
import { Viewers } from '../../observers/live-page/viewers';
import { Config } from '../../tokens';
import { UiFiles } from './ui-files';

/** No external resources and nothing inline, so that shown text cannot run as code. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const GUARDS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
/** Names of assets carry a hash of their content. */
const FOREVER = 'public, max-age=31536000, immutable';

/** The live page, from memory, and its stream of pictures. */
@Controller('ui')
export class UiController {
  private readonly files = new UiFiles();

  constructor(
    private readonly viewers: Viewers,
    private readonly config: Config,
  ) {}

  /** Redirects to the address with a slash, so that the relative addresses of the page resolve. */
  @Describe('Pages', 'Redirect to the live page', { status: 308, answers: ['nothing'] })
  @Get()
  redirect(@Res() reply: FastifyReply): void {
    void reply.code(308).header('location', 'ui/').send();
  }

  @Describe('Pages', 'Stream the state of the cluster to the live page', { answers: ['events'] })
  @Get('stream')
  stream(@Res() reply: FastifyReply): void {
    this.viewers.refuseWhenFull();
    const headers = reply.getHeaders() as Record<string, string>;
    reply.hijack();
    this.viewers.show(reply.raw, headers);
  }

  /** The settings that can change while the cluster runs, and their values, as JSON Schemas. */
  @Describe('Pages', 'Show the schemas of the settings that the live page changes', {
    refuses: [404],
  })
  @Get('options')
  options(): object {
    if (!this.config.enableAdmin) throw new BatonError('not_found');
    const { properties } = configSchema() as { properties: Record<string, object> };
    const names = Object.keys(changeableValues(this.config));
    return Object.fromEntries(names.map((name) => [name, properties[name] ?? {}]));
  }

  @Describe('Pages', 'Serve the live page and its files', {
    answers: ['html', 'file'],
    star: 'file',
  })
  @Get('*')
  file(@Param('*') name: string, @Res() reply: FastifyReply): void {
    const file = this.files.find(name === '' ? 'index.html' : name);
    if (file === undefined) throw new BatonError('not_found');
    const caching = name.startsWith('assets/') ? FOREVER : 'no-cache';
    void reply
      .headers({ ...GUARDS, 'cache-control': caching })
      .type(file.type)
      .send(file.body);
  }
}
