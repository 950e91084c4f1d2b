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
export {
  autoscalerName,
  configuredAutoscaler,
  demandOf,
  objectivesOf,
  scaleBounds,
  withStart,
} from './configured-autoscaler';
export { configuredChanges } from './configured-changes';
export { flowControlSpec, queueingClasses, buildSloClasses } from './flow-control-spec';
export { envName, fileName, flagName, keyOf } from './names';
export { isModulePath, type ModulePath, type ValueForm } from './option';
export { optionalFolder, requireFrom } from './optional-package';
export { ownPolicy } from './own-policy-file';
export { admissionSpec, hasOwnPolicy, placerSpec } from './placement-spec';
export { readTyped, whereIn } from './read-value';
export { recordableConfig } from './recorded-values';
export { resolveConfig, type ResolvedConfig, unknownFlag } from './resolve-config';
export { changeableValues } from './settings/changeable';
export { parseFakeMetrics, shownEngines } from './settings/fake-metrics';
export { faultSettings } from './settings/fault-settings';
export { LiveSettings, type Settings } from './settings/live-settings';
export { shownConfig } from './shown-config';
export { startupSeconds, startupTimes } from './startup';
export { isScaled } from './tables/autoscaling';
export { DRAFT_TOKENS_MAX, STARTUP_CAUSES } from './tables/engine';
export { LOG_LEVELS } from './tables/process';
export { CHAT_TEMPLATES } from './tables/text';
export { lengthHistogramOf, type LengthRange } from './length-histogram';
export { textFilesOf, type TextFiles } from './text-files';
export { type Certificate, readAuthorities, readCertificate } from './tls/certificate';
export { transportTimes } from './transport-times';
export { UsageError } from './usage-error';
export { composedChoices } from './engines/composed-choices';
export { vllmMinorOf } from './engines/vllm-minor';
export { givenFields } from './engines/given-fields';
export { gpuOf } from './engines/gpu-of';
export { modelFolderOf, modelNotes, modelOf } from './engines/model-of';
export { operatorFiles, ownOperators } from './engines/operator-files';
export { frontEndOf, withFrontEnd } from './engines/front-end-of';
export { placementOf } from './engines/placement-of';
export { engineSetup, type EngineSetup } from './engines/engine-factory';
export { checkExtrapolation, withOwnGuard } from './engines/extrapolation';
export { kvLayoutOf, type KvLayoutOfStage } from './engines/kv-layout-of';
export { type Adapter, isAdapter, loraModulesOf, mostAdapters } from './engines/lora-modules';
export { type ServedNames, servedNamesOf } from './engines/served-names';
export { stepTimeMethodsPage } from './engines/step-time-methods-page';
