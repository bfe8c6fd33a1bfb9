// The Range header, after the size of the file: `10 bytes=2-5`.

import { readRange } from '@svc/gateway/adapters/http/range-requests'
import { latin1, mustEqual, type Parser } from '../engine/parser.ts'

export function open(): Parser {
  return {
    seeds: [
      '10 bytes=0-0',
      '10 bytes=2-',
      '10 bytes=-3',
      '0 bytes=-1',
      '9007199254740991 bytes=5-18446744073709551615',
    ],
    words: [
      'bytes=',
      'Bytes=',
      '-',
      ',',
      '--',
      ' ',
      '0',
      '00',
      '99999999999999999999',
      'items=',
      '\t',
      '+1',
      '1e3',
      '0x1',
    ],
    maxBytes: 8192,
    check(input) {
      const line = latin1(input)
      const [, digits = '0', header = line] = /^(\d{1,15}) (.*)$/s.exec(line) ?? []
      const size = Number(digits)
      mustEqual(readRange(header, size), modelOf(header, size), 'selects other bytes than RFC 9110 says')
    },
  }
}

/** RFC 9110, 14.1.2, by exact numbers. What is not one range of bytes is ignored, and so are numbers beyond twenty digits. */
function modelOf(header: string, size: number): ReturnType<typeof readRange> {
  const [unit = '', set = '', ...more] = header.split('=')
  const bounds = set.split('-')
  const areNumbers = bounds.every(
    (digits) => digits.length <= 20 && [...digits].every((digit) => '0123456789'.includes(digit)),
  )
  const isBytes = [...unit].every((char) => char.charCodeAt(0) < 128) && unit.toLowerCase() === 'bytes'
  if (!isBytes || more.length > 0 || bounds.length !== 2 || !areNumbers) return 'whole'
  const [first = '', last = ''] = bounds
  if (first === '' && last === '') return 'whole'
  const length = BigInt(size)
  if (first === '') {
    if (BigInt(last) === 0n) return 'unsatisfiable'
    if (size === 0) return 'whole'
    const start = length - BigInt(last)
    return { start: Number(start < 0n ? 0n : start), end: size - 1 }
  }
  if (last !== '' && BigInt(last) < BigInt(first)) return 'whole'
  if (BigInt(first) >= length) return 'unsatisfiable'
  const end = last === '' || BigInt(last) >= length ? length - 1n : BigInt(last)
  return { start: Number(first), end: Number(end) }
}
