import { expect, it } from 'vitest'
import { metricsText } from '../../../src/views/metrics/text.ts'
import { parseMetrics } from './scrape.ts'

it('the text format escapes any label value and writes any number', () => {
  const read = (label: string, value: number) => {
    const gauge = { name: 'some_gauge', type: 'gauge', help: 'Some.', samples: [{ labels: { label }, value }] } as const
    return parseMetrics(metricsText([gauge])).value('some_gauge', { label })
  }
  for (const label of ['', 'a"b', 'a\\', 'a\nb 1', '\\n', '{}', 'é', '"} 1\nsome_gauge 2'])
    expect(read(label, 7)).toBe(7)
  for (const value of [0, -1, 1e-9, 1e21, 2 ** 53]) expect(read('x', value)).toBe(value)
})
