import { expect, it } from 'vitest'
import { fromUtf8 } from '../../src/bytes.ts'
import { logAnchorMemo, logAnchorPayload } from '../../src/transparency/anchor.ts'
import { EMPTY_ROOT } from '../../src/transparency/tree.ts'

it('LOG-08 the memo of a checkpoint names the log, its size and its root', () => {
  const payload = logAnchorPayload({ origin: 'gateway.example/log', size: 7, root: EMPTY_ROOT })
  expect(fromUtf8(logAnchorMemo(payload))).toBe(
    '{"n":7,"o":"gateway.example/log","root":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","s":"svc/log-anchor/v1"}',
  )
})
