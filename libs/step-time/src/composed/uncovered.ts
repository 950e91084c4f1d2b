/**
 * The reason why a deployment's steps cannot be composed from the measured operators; one clause.
 */
export class Uncovered extends Error {}
