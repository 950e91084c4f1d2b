/**
 * Time of a step that is not GPU kernels (scheduling, sampling, launches), in ms: the difference
 * between measured engines and composed kernel times. About vLLM 0.15 to 0.19 on H100: 1.5 with one
 * GPU, 1.9 with two, 3 with four; eight were not measured and take the value of four. It falls with
 * the version (4 to 5 on 0.6, 0.3 on 0.30) and holds kernel differences too, so treat it as a
 * constant to be fitted per engine.
 */
export function engineOverheadMs(tp: number): number {
  if (tp === 1) return 1.5;
  return tp === 2 ? 1.9 : 3;
}
