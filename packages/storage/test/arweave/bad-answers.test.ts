import { openArweave } from '../../src/arweave/open.ts'
import { HTTP_TIMEOUTS } from '../../src/timeouts.ts'
import { describeBadAnswers, SHORT_TIMEOUTS } from '../bad-answers.ts'
import { SEED } from './start-arweave.ts'

const ITEM = 'A'.repeat(43)

describeBadAnswers('the Arweave driver', async (url) => {
  const settings = { uploadUrl: url, gateways: [url], token: 'solana', seed: SEED }
  const store = await openArweave(settings, { ...HTTP_TIMEOUTS, ...SHORT_TIMEOUTS })
  return { read: (range) => store.read(ITEM, range), stat: () => store.stat(ITEM) }
})
