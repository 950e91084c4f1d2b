/** The means of `points` equal stretches of `values`. `points` is at most the number of values. */
export function averaged(values: Float32Array, points: number): number[] {
  return Array.from({ length: points }, (_none, point) => {
    const from = Math.floor((point * values.length) / points);
    const until = Math.floor(((point + 1) * values.length) / points);
    let sum = 0;
    for (let i = from; i < until; i++) sum += values[i]!;
    return sum / (until - from);
  });
}
