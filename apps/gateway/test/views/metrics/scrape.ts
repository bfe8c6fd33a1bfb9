// For tests: scrapes metrics with a parser that is stricter than that of Prometheus.

import { expect } from 'vitest'

export interface Scrape {
  text: string
  /** The value of the sample with exactly these labels, or null. */
  value(name: string, labels?: Record<string, string>): number | null
  /** The names of the families, in order. */
  families: string[]
}

export async function scrape(url: string, headers: Record<string, string> = {}): Promise<Scrape> {
  const response = await fetch(`${url}/metrics`, { headers })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-store')
  return parseMetrics(text)
}

interface Series {
  name: string
  labels: Record<string, string>
  value: number
}

export function parseMetrics(text: string): Scrape {
  if (!text.endsWith('\n')) throw new Error('the last line has no newline')
  const types = new Map<string, string>()
  const series = new Map<string, Series>()
  const lines = text.split('\n').filter((line) => line !== '')
  let family = ''
  for (const [i, line] of lines.entries()) {
    const help = /^# HELP ([a-zA-Z_:][\w:]*) \S.*$/.exec(line)?.[1]
    if (help) {
      if (types.has(help)) throw new Error(`the family ${help} appears twice`)
      const type = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/.exec(lines[i + 1] ?? '')
      if (type?.[1] !== help) throw new Error(`${help} has no type`)
      types.set(help, type[2] as string)
      family = help
    } else if (!line.startsWith('# TYPE ')) {
      const sample = parseSample(line)
      const isOfFamily =
        types.get(family) === 'histogram' ? isPartOf(family, sample.name) : sample.name === family && family !== ''
      if (!isOfFamily) throw new Error(`sample outside its family ${family}: ${line}`)
      if (types.get(family) !== 'gauge' && !(sample.value >= 0)) throw new Error(`negative count: ${line}`)
      const key = keyOf(sample.name, sample.labels)
      if (series.has(key)) throw new Error(`duplicate sample: ${line}`)
      series.set(key, sample)
    }
  }
  return {
    text,
    families: [...types.keys()],
    value: (name, labels = {}) => series.get(keyOf(name, labels))?.value ?? null,
  }
}

function keyOf(name: string, labels: Record<string, string>): string {
  return JSON.stringify([name, Object.entries(labels).sort()])
}

function isPartOf(family: string, name: string): boolean {
  return ['_bucket', '_sum', '_count'].some((part) => name === family + part)
}

const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"/y
const VALUE = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|Na[nN])$/

function parseSample(line: string): Series {
  const name = /^[a-zA-Z_:][\w:]*/.exec(line)?.[0] ?? ''
  const labels: Record<string, string> = {}
  let at = name.length
  if (line[at] === '{') {
    do {
      LABEL.lastIndex = ++at
      const [whole, label, value] = LABEL.exec(line) ?? []
      if (whole === undefined || label === undefined || label in labels) throw new Error(`invalid labels: ${line}`)
      labels[label] = JSON.parse(`"${value}"`)
      at += whole.length
    } while (line[at] === ',')
    if (line[at++] !== '}') throw new Error(`unterminated labels: ${line}`)
  }
  const value = line.slice(at + 1)
  if (name === '' || line[at] !== ' ' || !VALUE.test(value)) throw new Error(`invalid sample: ${line}`)
  return { name, labels, value: Number(value.replace('Inf', 'Infinity').replace(/^Na[nN]$/, 'NaN')) }
}
