import { describe, expect, it } from 'vitest'
import { confirm } from '../../src/output/confirm.ts'
import { createOutput, type OutputOptions } from '../../src/output/output.ts'
import { jsonLine, shown, terminalSafe } from '../../src/output/shown.ts'
import { testHost } from '../host.ts'

function outputOf(options: OutputOptions, env: Record<string, string> = {}, isTerminal = false) {
  const { host, stdout, stderr } = testHost(env, '', isTerminal)
  const output = createOutput(host, options)
  output.result({ n: 1n }, () => output.style.good('one'))
  output.note('note')
  output.warn('beware')
  return [stdout(), stderr()]
}

describe('output', () => {
  it('writes only results to stdout, and no notes with --quiet or --json', () => {
    expect(outputOf({})).toEqual(['one\n', 'note\nwarning: beware\n'])
    expect(outputOf({ quiet: true })).toEqual(['one\n', 'warning: beware\n'])
    expect(outputOf({ json: true })).toEqual(['{"n":"1"}\n', '{"warning":"beware"}\n'])
  })

  it('uses colours on a terminal, unless NO_COLOR is set or the terminal is dumb', () => {
    const green = '\u001b[32mone\u001b[39m\n'
    expect(outputOf({}, {}, true)[0]).toBe(green)
    expect([outputOf({}, { NO_COLOR: '1' }, true)[0], outputOf({}, { TERM: 'dumb' }, true)[0]]).toEqual([
      'one\n',
      'one\n',
    ])
  })

  it('escapes control characters in untrusted text', () => {
    const hostile = 'a\u001b[2J\u009b31m\u202eexe\u2028\n'
    expect(shown(hostile)).toBe('a\\u{1b}[2J\\u{9b}31m\\u{202e}exe\\u{2028}\\u{a}')
    expect(terminalSafe(hostile)).toBe('a\\u{1b}[2J\\u{9b}31m\\u{202e}exe\\u{2028}\n')
    const line = jsonLine({ hostile, tag: '\u{e0041}' })
    expect(line).toMatch(/^[\x20-\x7e]+$/)
    expect(JSON.parse(line)).toEqual({ hostile, tag: '\u{e0041}' })
  })
})

it('PAY-25 output escapes control sequences even in text that the caller did not escape', () => {
  const { host, stdout, stderr } = testHost({}, '', true)
  const { result, note, warn, style } = createOutput(host, {})
  const concealing = '5 USD\u001b[8m\u001b]0;x\u0007\r'
  result({}, () => style.good(concealing))
  note(style.dim(concealing))
  warn(concealing)
  const inked = '5 USD\\u{1b}[8m\\u{1b}]0;x\\u{7}\\u{d}'
  expect(stdout()).toBe(`${style.good(inked)}\n`)
  expect(stderr()).toBe(`${style.dim(inked)}\n${style.strong('warning:')} ${inked}\n`)
})

describe('a question', () => {
  it.each([
    ['y\n', true],
    ['YES\n', true],
    ['n\n', false],
    ['\n', false],
    ['', false],
  ])('answered with %j on a terminal gives %s', async (answer, isYes) => {
    const { host, stderr } = testHost({}, answer, true)
    expect(await confirm(host, false, 'Pay?')).toBe(isYes)
    expect(stderr()).toContain('Pay? [y/N] ')
  })

  it('fails without a terminal unless --yes is given', async () => {
    const { host } = testHost({}, 'y\n')
    await expect(confirm(host, false, 'Pay?')).rejects.toMatchObject({
      name: 'UsageError',
      hint: expect.stringContaining('--yes'),
    })
    expect(await confirm(host, true, 'Pay?')).toBe(true)
  })
})
