import { openArweave } from '../../src/arweave/open.ts'
import { PATIENCE } from '../../src/arweave/patience.ts'
import { describeLies, LITTLE_PATIENCE } from '../bad-answers.ts'
import { SEED } from './start-arweave.ts'

const ITEM = 'A'.repeat(43)

describeLies('the driver of Arweave', async (url) => {
  const settings = { uploadUrl: url, gateways: [url], token: 'solana', seed: SEED }
  const store = await openArweave(settings, { ...PATIENCE, ...LITTLE_PATIENCE })
  return { read: (range) => store.read(ITEM, range), stat: () => store.stat(ITEM) }
})
