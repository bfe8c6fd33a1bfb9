// The text format of Prometheus, version 0.0.4.

export interface Family {
  name: string
  type: 'counter' | 'gauge' | 'histogram' | 'summary'
  help: string
  samples: readonly Sample[]
}

export interface Sample {
  value: number
  labels?: Readonly<Record<string, string>>
  /** The suffix of a histogram's sample: `_bucket`, `_sum` or `_count`. */
  part?: string
}

/** One sample for each name, which becomes the value of the label. */
export function byLabel(
  label: string,
  values: Readonly<Record<string, number>>,
  others: Readonly<Record<string, string>> = {},
): Sample[] {
  return Object.entries(values).map(([name, value]) => ({ labels: { ...others, [label]: name }, value }))
}

/** Merges the families of several processes; a label names the process of each sample. */
export function byProcess(processes: readonly [index: number, families: readonly Family[]][]): Family[] {
  const all = new Map<string, Family>()
  for (const [index, families] of processes) {
    for (const { samples, ...family } of families) {
      const own = samples.map((sample) => ({ ...sample, labels: { process: String(index), ...sample.labels } }))
      all.set(family.name, { ...family, samples: [...(all.get(family.name)?.samples ?? []), ...own] })
    }
  }
  return [...all.values()]
}

export function metricsText(families: readonly Family[]): string {
  return families.map(familyText).join('\n')
}

function familyText({ name, type, help, samples }: Family): string {
  const lines = samples.map(({ value, labels, part = '' }) => `${name}${part}${labelText(labels)} ${value}\n`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function labelText(labels: Sample['labels'] = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length > 0 ? `{${pairs.join(',')}}` : ''
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
