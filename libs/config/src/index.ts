export {
  type ApiKey,
  needsApiKey,
  readAdminKey,
  readApiKeys,
  unnamedTenant,
} from './access/api-keys';
export { configFromEnv, configToJson } from './child-config';
export { configSchema } from './config-schema';
export {
  type BatonConfig,
  configForStage,
  type ConfigKey,
  configKeys,
  defaultConfig,
  isConfigKey,
  optionOf,
  SECTIONS,
  withoutSecrets,
} from './config';
export { configurationPage } from './configuration-page';
export { modelFolderOf, modelOf } from './engine/model-of';
export { operatorFiles, ownOperators } from './engine/operator-files';
export type { OwnOperators } from './engine/own-operators';
export { frontEndOf, withFrontEnd } from './engine/front-end-of';
export { engineSetup, type EngineSetup } from './engine/engine-factory';
export { checkExtrapolation, withOwnGuard } from './engine/extrapolation';
export { type Adapter, isAdapter, loraModulesOf } from './engine/lora-modules';
export { type ServedNames, servedNamesOf } from './engine/served-names';
export { envName, fileName, flagName, keyOf, nearestName } from './names';
export type { ValueForm } from './option';
export { optionalFolder, requireFrom } from './optional-package';
export { placerSpec } from './placement-spec';
export { recordableConfig } from './recorded-values';
export { resolveConfig, type ResolvedConfig, unknownFlag } from './resolve-config';
export { changeableValues } from './settings/changeable';
export { fakeMetricsOf, shownEngines } from './settings/fake-metrics';
export { faultSettings } from './settings/fault-settings';
export { LiveSettings, type Settings } from './settings/live-settings';
export { shownConfig } from './shown-config';
export { stepTimeMethodsPage } from './step-time-methods-page';
export { DRAFT_TOKENS_MAX } from './tables/engine';
export { LOG_LEVELS } from './tables/process';
export { type Certificate, readAuthorities, readCertificate } from './tls/certificate';
export { transportTimes } from './transport-times';
export { UsageError } from './usage-error';
