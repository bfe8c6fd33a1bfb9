import { describe, expect, it } from 'vitest'
import { type Family, metricsText } from '../../../src/info/metrics/text.ts'
import { parseMetrics } from './scrape.ts'

const gauge = (samples: Family['samples']): Family => ({ name: 'some_gauge', type: 'gauge', help: 'Some.', samples })

describe('the text format of metrics', () => {
  it('writes help, type and samples as Prometheus expects', () => {
    const text = metricsText([
      gauge([{ value: 1.5 }]),
      { name: 'other_total', type: 'counter', help: 'Others.', samples: [{ labels: { a: 'x', b: 'y' }, value: 2 }] },
    ])
    expect(text).toBe(
      '# HELP some_gauge Some.\n# TYPE some_gauge gauge\nsome_gauge 1.5\n\n' +
        '# HELP other_total Others.\n# TYPE other_total counter\nother_total{a="x",b="y"} 2\n',
    )
  })

  it('escapes any label value and writes any number', () => {
    for (const label of ['', 'a"b', 'a\\', 'a\nb 1', '\\n', '{}', 'é', '"} 1\nsome_gauge 2'])
      expect(parseMetrics(metricsText([gauge([{ labels: { label }, value: 7 }])])).value('some_gauge', { label })).toBe(
        7,
      )
    for (const value of [0, -1, 0.1, 1e-9, 1e21, 2 ** 53, 123456789012345680000])
      expect(parseMetrics(metricsText([gauge([{ value }])])).value('some_gauge')).toBe(value)
  })
})

describe('the strict parser that tests use', () => {
  const HEAD = '# HELP x X.\n# TYPE x gauge\n'
  const HISTOGRAM = '# HELP h H.\n# TYPE h histogram\n'
  it.each([
    ['an unfinished line', `${HEAD}x 1`],
    ['a sample before its type', 'x 1\n'],
    ['a help without a type', '# HELP x X.\nx 1\n'],
    ['an unknown type', '# HELP x X.\n# TYPE x number\nx 1\n'],
    ['a family twice', `${HEAD}x 1\n${HEAD}x{a="b"} 1\n`],
    ['a series twice', `${HEAD}x{a="1",b="2"} 1\nx{b="2",a="1"} 1\n`],
    ['a sample of another family', `${HEAD}y 1\n`],
    ['a bad name', `${HEAD}x-y 1\n`],
    ['a label without quotes', `${HEAD}x{a=b} 1\n`],
    ['a label with a bare quote', `${HEAD}x{a="b"c"} 1\n`],
    ['a label with an unknown escape', `${HEAD}x{a="\\t"} 1\n`],
    ['a label twice', `${HEAD}x{a="1",a="1"} 1\n`],
    ['labels without end', `${HEAD}x{a="1" 1\n`],
    ['no number', `${HEAD}x one\n`],
    ['two numbers', `${HEAD}x 1 2 3\n`],
    ['a counter below zero', '# HELP x X.\n# TYPE x counter\nx -1\n'],
    ['a histogram that shrinks', `${HISTOGRAM}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n`],
    ['a histogram without its end', `${HISTOGRAM}h_bucket{le="1"} 2\nh_sum 1\nh_count 2\n`],
    ['a histogram that miscounts', `${HISTOGRAM}h_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n`],
    ['a histogram without a sum', `${HISTOGRAM}h_bucket{le="+Inf"} 1\nh_count 1\n`],
  ])('refuses %s', (_, text) => {
    expect(() => parseMetrics(text)).toThrow()
  })
})
