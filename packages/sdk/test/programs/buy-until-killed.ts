// For tests: buys a locker with SOL, and is killed by itself at one of its effects.

import { createClient } from '../../src/client.ts'
import { fileJournal } from '../../src/node/file-journal.ts'
import { signerFromSeed } from '../../src/signers.ts'
import { solanaWallet } from '../../src/wallets/solana-wallet.ts'
import { type Ending, endingWorld } from '../effects.ts'

interface Task {
  baseUrl: string
  rpcUrl: string
  folder: string
  seed: string
  pinnedKeys: string[]
  intent: string
  ending: Ending
}

const { baseUrl, rpcUrl, folder, seed, pinnedKeys, intent, ending } = JSON.parse(process.argv[2] ?? '') as Task
const signer = signerFromSeed(Buffer.from(seed, 'hex'))
const world = endingWorld(
  { fetch, journal: fileJournal(folder), wallet: solanaWallet({ rpcUrl, signer }) },
  ending,
  async () => {
    process.kill(process.pid, 'SIGKILL')
    return new Promise<never>(() => {})
  },
)
const client = createClient({ baseUrl, signer, pinnedKeys, journal: world.journal, fetch: world.fetch })
await client.buy({ intent, units: 1, asset: 'SOL', wallet: world.wallet })
