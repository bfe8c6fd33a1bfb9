import { describe, expect, it } from 'vitest'
import { recognize } from '../src/search/recognize.ts'

const hex = (length: number) => 'a1'.repeat(length / 2)
const SIGNATURE = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'

describe('recognizing pasted text', () => {
  it.each([
    [`rcpt_${hex(32)}`, 'receipt', `rcpt_${hex(32)}`],
    [`  RCPT_${hex(32).toUpperCase()}\n`, 'receipt', `rcpt_${hex(32)}`],
    [`https://gateway.example/v1/r/rcpt_${hex(32)}/f/locker_${hex(12)}.txt`, 'receipt', `rcpt_${hex(32)}`],
    [`locker_${hex(12)}`, 'locker', `locker_${hex(12)}`],
    [`pr_${hex(32)}`, 'payment', `pr_${hex(32)}`],
    [`0x${hex(64).toUpperCase()}`, 'evmTransaction', `0x${hex(64)}`],
    [SIGNATURE, 'transaction', SIGNATURE],
    [`https://explorer.example/tx/${SIGNATURE}?cluster=x`, 'transaction', SIGNATURE],
    [hex(64), 'digest', hex(64)],
    [`sha256:${hex(64)}`, 'digest', hex(64)],
  ])('VER-22 %s is a %s', (text, kind, value) => {
    expect(recognize(text)).toEqual({ kind, value })
  })

  it.each(['', 'hello', 'rcpt_12', hex(62), `0x${hex(40)}`, '11111111111111111111111111111111'])(
    'VER-22 %j is not recognized',
    (text) => {
      expect(recognize(text)).toBeNull()
    },
  )
})
