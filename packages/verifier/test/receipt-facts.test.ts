import { utf8 } from '@svc/protocol/bytes'
import { describe, expect, it } from 'vitest'
import { readReceipt } from '../src/receipt-facts.ts'

const RECEIPT = {
  receipt_id: 'rcpt_1',
  pay_req_id: 'pr_1',
  tx_hash: '0xab',
  receipt_sig: 'ab',
  receipt_signer_pubkey: 'cd',
}

describe('a receipt', () => {
  it('CLI-05 is read with any other fields', () => {
    expect(readReceipt(utf8(JSON.stringify({ ...RECEIPT, more: [1] })))).toEqual({ ...RECEIPT, more: [1] })
  })

  it('T-129 is not read if a text is missing or has no UTF-8', () => {
    for (const field of Object.keys(RECEIPT)) {
      for (const value of [undefined, null, 7, ['x'], '\ud800'])
        expect(readReceipt(utf8(JSON.stringify({ ...RECEIPT, [field]: value }))), field).toBeNull()
    }
    for (const text of ['', '[]', 'null', '{"a":1,"a":2}']) expect(readReceipt(utf8(text))).toBeNull()
  })
})
