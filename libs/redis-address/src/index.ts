export { parseRedisAddress, type RedisAddress } from './address';
export { redisOptionsOf } from './redis-options';
