export function isIn(version: string, range: string): boolean;
