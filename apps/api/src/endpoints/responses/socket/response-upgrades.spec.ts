import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { BatonConfig } from '@baton/config';
import type { Logger } from '@baton/telemetry';
import type { HttpAdapterHost } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import type { Refusals } from '../../../request/refusals';
import type { RequestWay } from '../../../request/way';
import type { ResponseReader } from '../response-reader';
import type { ResponsesService } from '../responses.service';
import { ResponseUpgrades } from './response-upgrades';

it('makes WebSockets when their server could not be made for an earlier one', async () => {
  let tries = 0;
  const config = {
    maxWebsockets: 0,
    get maxRequestBodyMb() {
      tries += 1;
      if (tries === 1) throw new Error('too many open files');
      return 1;
    },
  } as BatonConfig;
  const server = new EventEmitter();
  const httpAdapter = {
    getHttpServer: () => server,
    getInstance: () => ({ routing: () => undefined }),
  };
  const upgrades = new ResponseUpgrades(
    config,
    { httpAdapter } as unknown as HttpAdapterHost,
    {} as ResponseReader,
    {} as ResponsesService,
    {} as RequestWay,
    {} as Refusals,
    {} as Logger,
  );
  upgrades.onApplicationBootstrap();
  const message = { headers: { upgrade: 'websocket' }, url: '/v1/responses' } as IncomingMessage;
  server.emit('upgrade', message, new Socket(), Buffer.alloc(0));
  const accept = (): Promise<void> =>
    upgrades.accept({ raw: message } as FastifyRequest, {} as FastifyReply);
  await expect(accept()).rejects.toThrow('too many open files');
  await expect(accept()).rejects.toMatchObject({ code: 'too_many_websockets' });
});
