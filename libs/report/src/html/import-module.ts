export type ModuleLoader = (name: string) => Promise<unknown>;

/**
 * An `import()` that the build keeps. The build turns other imports into `require`, which cannot
 * load Vega: its modules await at their top level. Load this file with `require`: a bundle is a
 * script of its own, and there V8 has no loader for the imports of a new function.
 */
export const importModule = new Function('name', 'return import(name)') as ModuleLoader;
