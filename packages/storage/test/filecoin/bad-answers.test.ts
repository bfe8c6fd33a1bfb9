import { randomBytes } from 'node:crypto'
import { contentIdOf } from '@svc/devnet/providers/filecoin/commitment'
import { expect, it } from 'vitest'
import { openFilecoin } from '../../src/filecoin/open.ts'
import { TIMEOUTS } from '../../src/filecoin/timeouts.ts'
import {
  answerWith,
  type BadlyServed,
  BYTES,
  describeBadAnswers,
  SHORT_TIMEOUTS,
  startBadServer,
} from '../bad-answers.ts'

const ADDRESS = `0x${'11'.repeat(20)}` as const
const CHAIN = { chainId: 314, rpcUrl: 'http://127.0.0.1:1', recordKeeper: ADDRESS, payee: ADDRESS } as const

const open = async (pdpUrl: string): Promise<BadlyServed> => {
  const settings = { ...CHAIN, pdpUrl, key: `0x${'5c'.repeat(32)}` as const, dataSet: null, retrievalUrl: null }
  const store = await openFilecoin(settings, { ...TIMEOUTS, ...SHORT_TIMEOUTS })
  const ref = contentIdOf(BYTES.length, 5, randomBytes(32))
  return { read: (range) => store.read(ref, range), stat: () => store.stat(ref) }
}

describeBadAnswers('the Filecoin driver', open)

it('FILE-22 the Filecoin driver rejects a piece with a content encoding', async () => {
  const packed = await open(
    await startBadServer(answerWith(200, { 'content-encoding': 'gzip', 'content-length': 1000 }, BYTES)),
  )
  for (const asking of [packed.read(), packed.read({ start: 0, end: 9 }), packed.stat()]) {
    await expect(asking).rejects.toMatchObject({ name: 'ProviderError', reason: 'unavailable' })
  }
})
