export class TransportUnavailable extends Error {
  constructor(what: string) {
    super(`The message broker is not reachable (${what}).`);
    this.name = 'TransportUnavailable';
  }
}

/** Keys under the prefix belong to another program, so nothing can be stored there. */
export class TransportForeign extends TransportUnavailable {
  constructor(prefix: string, what: string) {
    super(what);
    this.name = 'TransportForeign';
    this.message =
      `The prefix '${prefix}' of this Redis is used by something else (${what}): clear it, or ` +
      'name another with --redis-prefix.';
  }
}

/** The broker's memory limit is reached; the request was not stored. */
export class TransportOutOfMemory extends Error {
  constructor() {
    super('The message broker is out of memory.');
    this.name = 'TransportOutOfMemory';
  }
}
