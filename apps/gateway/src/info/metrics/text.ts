// The text format of Prometheus, version 0.0.4.

export interface Family {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  samples: readonly Sample[]
}

export interface Sample {
  value: number
  labels?: Readonly<Record<string, string>>
  /** Of a histogram: which part of it this is. */
  part?: '_bucket' | '_sum' | '_count'
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
