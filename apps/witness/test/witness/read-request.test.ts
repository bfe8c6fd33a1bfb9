import { problemWith } from '@svc/devnet/properties/made-up-input'
import { must } from '@svc/devnet/properties/rules'
import { equalBytes } from '@svc/protocol/bytes'
import { growthRequest, hasSameForm, OLD_SIZE, oldRoot, root } from '@svc/protocol/test/transparency/signed-log'
import { isConsistent } from '@svc/protocol/transparency/tree'
import { expect, it } from 'vitest'
import { readRequest } from '../../src/witness/read-request.ts'

it('T-129 T-52 no made-up input breaks the rules of cosignature requests', async () => {
  expect(
    await problemWith({
      examples: [growthRequest],
      words: ['old ', 'old 0\n\n', '\n\n', '\n', '\u2014 ', 'AAAA', '=', '9007199254740992'],
      maxBytes: 70_000,
      rule(input) {
        const request = readRequest(input)
        if (typeof request === 'string') return
        const { oldSize, checkpoint, proof } = request
        if (oldSize !== OLD_SIZE || !equalBytes(checkpoint.root, root)) return
        const isGrown = isConsistent({ size: OLD_SIZE, root: oldRoot }, checkpoint, proof)
        must(!isGrown || hasSameForm(checkpoint.size), 'a proof shows that a log has another size')
      },
    }),
  ).toBeNull()
})
