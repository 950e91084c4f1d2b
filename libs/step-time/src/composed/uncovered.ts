/** Why no step of a deployment can be put together from the measured operators; one clause. */
export class Uncovered extends Error {}
