// The numbers of a chart: stacking, and the values at a point.

export interface Series {
  label: string
  /** One value per time; null if unknown. */
  values: readonly (number | null)[]
}

export interface ChartData {
  /** Unix seconds, ascending. For bars, the start of each. */
  times: readonly number[]
  series: readonly Series[]
}

/** Stacks each shown series on the previous ones; hidden series are empty. */
export function stack(series: readonly Series[], isShown: (index: number) => boolean): (number | null)[][] {
  let below: number[] = []
  return series.map(({ values }, index) => {
    if (!isShown(index)) return values.map(() => null)
    below = values.map((value, i) => (below[i] ?? 0) + (value ?? 0))
    return below
  })
}

export function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0)
}

/** Merges the series beyond `most` into one, because a chart has six colours. */
export function largest(series: readonly Series[], most: number, other: string): Series[] {
  const sorted = [...series].sort((a, b) => sum(b.values) - sum(a.values))
  if (sorted.length <= most) return sorted
  const rest = sorted.slice(most - 1)
  const added = rest[0]?.values.map((_, i) => sum(rest.map(({ values }) => values[i] ?? null))) ?? []
  return [...sorted.slice(0, most - 1), { label: other, values: added }]
}
