export * from './config/child-config';
export * from './config/config';
export * from './config/config-schema';
export * from './config/resolve-config';
export * from './config/usage-error';
export * from './logs/logger';
