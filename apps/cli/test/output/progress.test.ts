import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createOutput } from '../../src/output/output.ts'
import { progressLine, showProgress } from '../../src/output/progress.ts'
import { testHost } from '../host.ts'

const MEBIBYTE = 1024 * 1024

describe('progress', () => {
  it('shows the percentage, bytes, rate and time left', () => {
    expect(progressLine('put', 5 * MEBIBYTE, 20 * MEBIBYTE, 2)).toBe(
      'put  25%  5.00 MiB of 20.0 MiB  2.50 MiB/s  6 seconds left',
    )
    expect(progressLine('put', 0, 0, 0)).toBe('put  100%  0 B of 0 B  0 B/s')
  })

  it('draws one line that fits the terminal, limits redraws, and clears the line once', () => {
    let now = 0
    const stream = Object.assign(new PassThrough(), { columns: 20 })
    const progress = showProgress(stream, 'get', 100, () => now)
    progress.add(10)
    now = 1000
    progress.add(40)
    progress.add(1)
    progress.hide()
    progress.hide()
    expect(stream.read().toString()).toBe('\r\u001b[Kget  50%  50 B of 1\r\u001b[K')
  })

  it.each([
    ['a pipe', false, {}, false],
    ['a terminal', true, {}, true],
    ['a terminal with --quiet', true, { quiet: true }, false],
  ])('is drawn on a terminal only, and not with --quiet (%s)', async (_, isTerminal, options, isShown) => {
    const { host, stderr } = testHost({}, '', isTerminal)
    let now = 0
    const output = createOutput({ ...host, now: () => now }, options)
    await output.withProgress('put', 2, async (progress) => {
      now = 1000
      progress.add(1)
      output.warn('beware')
    })
    const text = stripVTControlCharacters(stderr())
    expect(text.includes('50%')).toBe(isShown)
    expect(text).toMatch(/(^|\r)warning: beware\n$/)
  })
})
