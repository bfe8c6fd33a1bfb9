import { describe, expect, it } from 'vitest'
import { agrees } from '../../src/output/ask.ts'
import { createOutput, type OutputOptions } from '../../src/output/output.ts'
import { harmless, jsonLine, shown } from '../../src/output/shown.ts'
import { testWorld } from '../world.ts'

function said(options: OutputOptions, env: Record<string, string> = {}, isTerminal = false) {
  const { world, stdout, stderr } = testWorld(env, '', isTerminal)
  const output = createOutput(world, options)
  output.result({ n: 1n }, () => output.style.good('one'))
  output.note('note')
  output.warn('beware')
  return [stdout(), stderr()]
}

describe('output', () => {
  it('keeps stdout for results, and tells programs nothing else', () => {
    expect(said({})).toEqual(['one\n', 'note\nwarning: beware\n'])
    expect(said({ quiet: true })).toEqual(['one\n', 'warning: beware\n'])
    expect(said({ json: true })).toEqual(['{"n":"1"}\n', '{"warning":"beware"}\n'])
  })

  it('colours terminals, unless NO_COLOR or a dumb one', () => {
    const green = '\u001b[32mone\u001b[39m\n'
    expect(said({}, {}, true)[0]).toBe(green)
    expect([said({}, { NO_COLOR: '1' }, true)[0], said({}, { TERM: 'dumb' }, true)[0]]).toEqual(['one\n', 'one\n'])
  })

  it('lets no text from elsewhere steer a terminal', () => {
    const hostile = 'a\u001b[2J\u009b31m\u202eexe\u2028\n'
    expect(shown(hostile)).toBe('a\\u{1b}[2J\\u{9b}31m\\u{202e}exe\\u{2028}\\u{a}')
    expect(harmless(hostile)).toBe('a\\u{1b}[2J\\u{9b}31m\\u{202e}exe\\u{2028}\n')
    const line = jsonLine({ hostile, tag: '\u{e0041}' })
    expect(line).toMatch(/^[\x20-\x7e]+$/)
    expect(JSON.parse(line)).toEqual({ hostile, tag: '\u{e0041}' })
  })
})

it('PAY-25 hides nothing, also where a text from elsewhere was not looked at', () => {
  const { world, stdout, stderr } = testWorld({}, '', true)
  const { result, note, warn, style } = createOutput(world, {})
  const concealing = '5 USD\u001b[8m\u001b]0;x\u0007\r'
  result({}, () => style.good(concealing))
  note(style.dim(concealing))
  warn(concealing)
  const inked = '5 USD\\u{1b}[8m\\u{1b}]0;x\\u{7}\\u{d}'
  expect(stdout()).toBe(`${style.good(inked)}\n`)
  expect(stderr()).toBe(`${style.dim(inked)}\n${style.strong('warning:')} ${inked}\n`)
})

describe('questions', () => {
  it.each([
    ['y\n', true],
    ['YES\n', true],
    ['n\n', false],
    ['\n', false],
    ['', false],
  ])('the answer %j on a terminal is %s', async (answer, isYes) => {
    const { world, stderr } = testWorld({}, answer, true)
    expect(await agrees(world, false, 'Pay?')).toBe(isYes)
    expect(stderr()).toContain('Pay? [y/N] ')
  })

  it('are not asked where nobody can answer: --yes is the only answer', async () => {
    const { world } = testWorld({}, 'y\n')
    await expect(agrees(world, false, 'Pay?')).rejects.toMatchObject({
      name: 'UsageError',
      hint: expect.stringContaining('--yes'),
    })
    expect(await agrees(world, true, 'Pay?')).toBe(true)
  })
})
